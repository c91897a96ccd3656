import tensorflow as tf


def add_op_callback(callback):
    tf._context.callbacks.append(callback)

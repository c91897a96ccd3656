import tensorflow as tf


def get_name_scope():
    return tf._scope()

"""Writes small recordings to the grammar of msprobe: every form of entry and
value, in the spelling of Python's json with indent 1 (NaN and Infinity bare)."""
import json


def tensor(dtype='torch.float32', shape=(2, 3), stats=(1.5, -1.0, 0.25, 2.0), grad=False, kind='torch.Tensor', **more):
    t = {'type': kind, 'dtype': dtype, 'shape': list(shape)}
    if stats:
        t.update(zip(['Max', 'Min', 'Mean', 'Norm'], stats))
    if grad is not None:
        t['requires_grad'] = grad
    t.update(more)
    return t


def value(v):
    return {'type': type(v).__name__, 'value': v}


nan, inf = float('nan'), float('inf')
none4 = (None,) * 4
data = {
    'Functional.linear.0.forward': {
        'input_args': [tensor(data_name='Functional.linear.0.forward.input.0.pt', md5='cfa12024'),
                       tensor(shape=(4, 3), grad=True, md5='00000000', data_name='Functional.linear.0.forward.input.1.pt'), None],
        'input_kwargs': {}, 'is_recompute': True,
        'output': [tensor(stats=(nan, -inf, inf, nan)), tensor('torch.float64', stats=(1e300, -1e-300, None, None))]},
    'Aten.add.Tensor.3.forward': {
        'input_args': [tensor('torch.int64', (), (7, 7, 7, 7)), value(1 << 70), value(-(1 << 62) - 1), value(nan), value(-inf), value(True), value('a "text"\n\u4e2d'),
                       {'type': 'slice', 'value': [1, None, 2]}, {'type': 'ellipsis', 'value': '...'}, {}, [], [[None]],
                       {'type': 'int16', 'value': -3}, {'type': 'bool_', 'value': False}, [value(1), [value(2.5), tensor('torch.bool', (3,), (True, False, None, None))]]],
        'input_kwargs': {'dtype': {'type': 'torch.dtype', 'value': 'torch.bfloat16'}, 'device': {'type': 'torch.device', 'value': 'cpu:None'},
                         'memory_format': {'type': 'torch.memory_format', 'format': 'channels_last'},
                         'size': {'type': 'torch.Size', 'value': [3, 4]}, 'nested': {'7': value(0), 'deep': {'x.y': tensor('torch.complex64', (0, 2), none4)}}},
        'output': []},
    'Module.layers.0.attn.Attention.forward.0': {
        'input_args': [tensor('torch.bfloat16')], 'input_kwargs': {},
        'output': [tensor('torch.float16', stats=(65504.0, 0.0, 1.0, inf))],
        'parameters': {'weight': tensor('torch.float8_e4m3fn', stats=none4), 'sub.bias': tensor(shape=(2,))}},
    'Module.layers.0.attn.Attention.backward.0': {'input': [tensor()], 'output': [None, tensor(grad=None, kind='mindspore.Tensor', dtype='BFloat16')]},
    'Module.layers.0.attn.Attention.parameters_grad.0': {'weight': [tensor()], 'sub.bias': [tensor(shape=(2,))]},
    'Distributed.all_reduce.0.forward': {
        'input_args': [{'type': 'DTensor', **{k: v for k, v in tensor().items() if k != 'type'}},
                       {'type': 'numpy.ndarray', 'dtype': '<U2', 'shape': [2], 'Max': None, 'Min': None, 'Mean': None, 'Norm': None, 'data_name': 'x.npy'}],
        'input_kwargs': {'op': {'type': 'torch.distributed.ReduceOp', 'value': 'RedOpType.SUM'}}},
    'Tensor.relu_.0.backward': {},
    'Tensor.xor.0.forward': {'input_args': [{'type': 'torch.Tensor', 'dtype': 'torch.float32', 'shape': [2], 'md5': '0x7b682c3fff2d632d', 'requires_grad': False},
                                            {'type': 'torch.Tensor', 'dtype': 'torch.float32', 'shape': [], 'md5': 0.5, 'requires_grad': False}],
                             'input_kwargs': {}, 'output': [None]},
}
head = {'task': 'tensor', 'level': 'mix', 'framework': 'pytorch', 'dump_data_dir': '/train/step0/rank0/dump_tensor_data', 'later': {'a': [1, 'x', {}]}}
with open('dump.json', 'w') as f:
    json.dump({**head, 'data': data}, f, indent=1)
debug = {'hidden.0.debug': tensor(), 'hidden_grad.0.debug': None, 'bundle.1.debug': {'h': tensor(), 'parts': [tensor(), value(3), [None]], 'flag': value(False)},
         'scalar.0.debug': value(0.5)}
with open('debug.json', 'w') as f:
    json.dump({'task': 'tensor', 'level': 'debug', 'framework': 'pytorch', 'dump_data_dir': None, 'data': debug}, f, indent=1)
with open('construct.json', 'w') as f:
    json.dump({'Functional.linear.0.forward': 'Module.fc.Linear.forward.0', 'Module.fc.Linear.forward.0': None, 'optimizer': None,
               'Tensor.add.0.forward': ['Module.fc.Linear.forward.0', 1], 'megatron_micro_step_number': 2, 'Mint.x.0.forward': ''}, f, indent=1)
frame = 'File /train/net.py, line 12, in forward, \n x = self.fc(x, "y")'
with open('stack.json', 'w') as f:
    json.dump({'0': [['Functional.linear.0.forward', 'Tensor.add.0.forward'], [frame, 'File /a, b/c.py, line 3, in <module>, \n main()']], '1': [['Tensor.x.0.forward'], []]}, f, indent=1)
with open('stack_old.json', 'w') as f:
    json.dump({'Functional.linear.0.forward': [frame, 'odd'], 'Tensor.add.0.forward': []}, f, indent=4)

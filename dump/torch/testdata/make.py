"""Writes the files of read/ as torch.save does, with Python's own pickle and
zipfile and stand-ins for the names of PyTorch, and their values in read/index.json."""
import collections
import io
import json
import os
import pickle
import struct
import sys
import types
import zipfile

for module in ['torch', 'torch._utils', 'torch._tensor', 'torch.storage', 'torch.nn', 'torch.nn.parameter', 'os_stub']:
    sys.modules[module] = types.ModuleType(module)


def stand_in(module, name):
    def f(*args):
        raise NotImplementedError
    f.__module__, f.__name__, f.__qualname__ = module, name, name
    setattr(sys.modules[module], name, f)
    return f


class DType:
    """Is pickled as a name of the module torch, as torch.dtype is."""
    def __init__(self, name):
        self.name = name
        self.__module__ = 'torch'
        setattr(sys.modules['torch'], name, self)

    def __reduce__(self):
        return self.name


v1 = stand_in('torch._utils', '_rebuild_tensor')
v2 = stand_in('torch._utils', '_rebuild_tensor_v2')
v3 = stand_in('torch._utils', '_rebuild_tensor_v3')
parameter = stand_in('torch._utils', '_rebuild_parameter')
with_state = stand_in('torch._utils', '_rebuild_parameter_with_state')
from_type = stand_in('torch._tensor', '_rebuild_from_type_v2')
Parameter = stand_in('torch.nn.parameter', 'Parameter')
Tensor = stand_in('torch', 'Tensor')
Untyped = stand_in('torch.storage', 'UntypedStorage')
Size = stand_in('torch', 'Size')


class Call:
    def __init__(self, f, *args):
        self.call = (f, args)

    def __reduce__(self):
        return self.call


class Storage:
    def __init__(self, cls, key, data, numel, view=None):
        self.cls, self.key, self.data, self.numel, self.view = cls, key, data, numel, view


def typed(name, key, fmt, values, big=False, view=None, numel=None):
    data = struct.pack(('>' if big else '<') + str(len(values)) + fmt, *values)
    return Storage(stand_in('torch', name), key, data, numel or len(values), view)


def untyped(key, data):
    return Storage(Untyped, key, data, len(data))


def dump(value, protocol=2, legacy=False):
    stores = collections.OrderedDict()

    class P(pickle.Pickler):
        def persistent_id(self, o):
            if isinstance(o, Storage):
                stores.setdefault(o.key, o)
                id = ('storage', o.cls, o.key, 'cpu', o.numel)
                return id + (o.view,) if legacy else id

    out = io.BytesIO()
    P(out, protocol).dump(value)
    return out.getvalue(), stores


def archive(path, value, protocol=2, byteorder=None, folder='archive'):
    code, stores = dump(value, protocol)
    with zipfile.ZipFile(path, 'w') as z:
        def add(name, data):
            z.writestr(zipfile.ZipInfo(folder + '/' + name), data)
        add('data.pkl', code)
        if byteorder:
            add('byteorder', byteorder)
        for key, s in stores.items():
            add('data/' + key, s.data)
        add('version', '3\n')


def legacy(path, value):
    code, stores = dump(value, legacy=True)
    with open(path, 'wb') as f:
        pickle.dump(0x1950a86a20f9469cfc6c, f, 2)
        pickle.dump(1001, f, 2)
        pickle.dump({'protocol_version': 1001, 'little_endian': True, 'type_sizes': {'short': 2, 'int': 4, 'long': 4}}, f, 2)
        f.write(code)
        pickle.dump(list(stores), f, 2)
        for s in stores.values():
            f.write(struct.pack('<q', s.numel) + s.data)


hooks = collections.OrderedDict()
index = {}


def tensor(s, offset, shape, stride, grad=False, *more):
    return Call(v2, s, offset, shape, stride, grad, hooks, *more)


def file(name, *tensors, note=''):
    index[name] = [dict(zip(['name', 'type', 'shape', 'values'], t)) for t in tensors]
    return os.path.join('read', name)


os.makedirs('read', exist_ok=True)
floats = typed('FloatStorage', '0', 'f', range(12))
archive(file('rows.pt', ('', 'float32', [2, 3], [1, 3, 5, 7, 9, 11])), tensor(floats, 1, (2, 3), (6, 2)))
archive(file('transposed.pt', ('', 'float32', [4, 3], [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11])), tensor(floats, 0, (4, 3), (1, 4)))
archive(file('expanded.pt', ('', 'float32', [2, 3], [2, 2, 2, 7, 7, 7])), tensor(floats, 2, (2, 3), (5, 0)))
archive(file('v1.pt', ('', 'float32', [12], list(range(12)))), Call(v1, floats, 0, (12,), (1,)))
archive(file('protocol4.pt', ('', 'float32', [12], list(range(12)))), tensor(floats, 0, (12,), (1,)), protocol=4)
archive(file('big.pt', ('', 'int32', [3], [1, -2, 70000])), tensor(typed('IntStorage', '0', 'i', [1, -2, 70000], big=True), 0, (3,), (1,)), byteorder='big')
archive(file('little.pt', ('', 'float64', [2], [0.1, -1e300])), tensor(typed('DoubleStorage', '0', 'd', [0.1, -1e300]), 0, (2,), (1,)), byteorder='little')
archive(file('big_complex.pt', ('', 'complex64', [2], [1, -2, 3.5, 4])), tensor(typed('ComplexFloatStorage', '0', 'f', [1, -2, 3.5, 4], big=True, numel=2), 0, (2,), (1,)), byteorder='big')
archive(file('float8_e4m3fn.pt', ('', 'float8_e4m3fn', [3], [1, -448, 2**-9])),
        Call(v3, untyped('0', bytes([0x38, 0xfe, 0x01])), 0, (3,), (1,), False, hooks, DType('float8_e4m3fn')))
archive(file('float8_e5m2.pt', ('', 'float8_e5m2', [2, 1], [1, -57344])),
        Call(v3, untyped('0', bytes([0, 0x3c, 0xfb])), 1, (2, 1), (1, 1), False, hooks, DType('float8_e5m2')))
archive(file('uint16.pt', ('', 'uint16', [2], [65535, 256])),
        Call(v3, untyped('0', struct.pack('<3H', 1, 65535, 256)), 1, (2,), (1,), False, hooks, DType('uint16')))
archive(file('complex32.pt', ('', 'complex32', [1], [1, -2])),
        Call(v3, untyped('0', struct.pack('<2e', 1, -2)), 0, (1,), (1,), False, hooks, DType('complex32')))
archive(file('with_state.pt', ('', 'float32', [2], [3, 4])), Call(with_state, tensor(floats, 3, (2,), (1,)), True, hooks, {'note': 1}))
archive(file('from_type.pt', ('', 'float32', [2], [3, 4])), Call(from_type, v2, Parameter, (floats, 3, (2,), (1,), True, hooks), {'note': 1}))
archive(file('properties.pt', ('', 'float32', [2], [3, 4])), tensor(floats, 3, (2,), (1,), False, {'conj': False}))
archive(file('state.pt', ('layer.weight', 'float32', [2, 2], [0, 1, 2, 3]), ('layer.bias', 'float32', [2], [2, 3]), ('more.1.0', 'int8', [], [-3]), ('7', 'float32', [0], [])),
        collections.OrderedDict([
            ('layer', {'weight': Call(parameter, tensor(floats, 0, (2, 2), (2, 1)), True, hooks), 'bias': tensor(floats, 2, (2,), (1,))}),
            ('more', [None, (tensor(typed('CharStorage', '1', 'b', [-3]), 0, (), ()), 2.5, 'text', True, 1 << 40)]),
            (7, tensor(floats, 5, (0,), (1,))), (('odd', 'key'), 1), ('size', Call(Size, (2, 3)))]), folder='any name')
half = typed('HalfStorage', '9', 'e', [0, 1, 2, 3, 4, 5])
part = Storage(half.cls, '9', half.data, 6, ('9.2', 2, 3))
legacy(file('legacy.pt', ('a', 'float16', [2, 3], [0, 2, 4, 1, 3, 5]), ('b', 'float16', [2], [3, 4]), ('c', 'int64', [1], [-5])),
       {'a': tensor(half, 0, (2, 3), (1, 2)), 'b': tensor(part, 1, (2,), (1,)), 'c': tensor(typed('LongStorage', '3', 'q', [-5]), 0, (1,), (1,))})

# What has to be refused, with a part of the message.
refused = {}


def refuse(name, why):
    refused[name] = why
    return os.path.join('read', name)


archive(refuse('calls_system.pt', '"os_stub.system", which no tensor needs'), Call(stand_in('os_stub', 'system'), 'true'))
archive(refuse('conj.pt', 'conj bit'), tensor(typed('ComplexFloatStorage', '0', 'f', [1, 2], numel=1), 0, (1,), (1,), False, {'conj': True}))
archive(refuse('unknown_type.pt', 'torch.float8_e4m3fnuz cannot be read'),
        Call(v3, untyped('0', b'1'), 0, (1,), (1,), False, hooks, DType('float8_e4m3fnuz')))
archive(refuse('quantized.pt', 'torch.QInt8Storage cannot be read'), tensor(typed('QInt8Storage', '0', 'b', [1]), 0, (1,), (1,)))
archive(refuse('outside.pt', 'inside its storage'), tensor(floats, 1, (4, 3), (3, 1)))
archive(refuse('bytes.pt', 'SHORT_BINBYTES' ), b'bytes', protocol=4)
archive(refuse('set.pt', 'EMPTY_SET'), {1}, protocol=4)
with zipfile.ZipFile(refuse('deflated.pt', 'compressed'), 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr('archive/data.pkl', b'\x80\x02N.' + bytes(1000))
with zipfile.ZipFile(refuse('other.zip.pt', 'without data.pkl'), 'w') as z:
    z.writestr('a/b', 'c')
with zipfile.ZipFile(refuse('script.pt', 'TorchScript'), 'w') as z:
    z.writestr('m/data.pkl', b'\x80\x02N.')
    z.writestr('m/constants.pkl', b'\x80\x02).')
with open('read/index.json', 'w') as f:
    json.dump({'files': index, 'refused': refused}, f, indent=1)
    f.write('\n')

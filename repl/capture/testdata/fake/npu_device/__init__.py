"""Global options that refuse names they do not have, as the real ones do."""
import types

from tensorflow import note


class Options(object):
    def __init__(self, **values):
        self.__dict__.update(values)

    def __setattr__(self, name, value):
        if name not in self.__dict__:
            raise AttributeError(name)
        self.__dict__[name] = value

    def changed(self):
        found = {}
        for k, v in self.__dict__.items():
            if isinstance(v, Options):
                found.update({k + "." + name: x for name, x in v.changed().items()})
            elif v is not None:
                found[k] = v
        return found


def fresh():
    return Options(
        dump_config=Options(enable_dump=None, dump_path=None, dump_step=None, dump_mode=None, enable_dump_debug=None, dump_debug_mode=None,
                            dump_data=None, dump_layer=None),
        profiling_config=Options(enable_profiling=None, profiling_options=None), op_debug_level=None, fusion_switch_file=None)


_options = fresh()


def global_options():
    return _options


compat = types.SimpleNamespace(enable_v1=lambda: note("enable_v1"))

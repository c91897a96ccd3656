class DumpConfig(object):
    def __init__(self, enable_dump=False, dump_path=None, dump_step=None, dump_mode="output", enable_dump_debug=False, dump_debug_mode="all",
                 dump_data="tensor", dump_layer=None):
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})

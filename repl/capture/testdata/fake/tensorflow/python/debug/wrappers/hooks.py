"""The hook that records runs of other sessions."""
from tensorflow.python.debug.wrappers.dumping_wrapper import check


class DumpingDebugHook(object):
    def __init__(self, session_root):
        check(session_root)
        self._session_root, self._session_wrapper = session_root, None

    def before_run(self, run_context):
        args = run_context.original_args
        return self._session_wrapper.prepare_run_debug_urls(args.fetches, args.feed_dict)

"""How a wrapper of sessions says what to do with a run."""


class OnRunStartAction(object):
    DEBUG_RUN, NON_DEBUG_RUN = "debug_run", "non_debug_run"


class OnRunStartResponse(object):
    def __init__(self, action, debug_urls):
        self.action, self.debug_urls = action, debug_urls

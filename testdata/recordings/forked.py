"""Recordings are made in processes of their own, forked from one that has loaded everything."""
import json
import os
import traceback


def child(record, *args):
    """Runs record(*args) in such a process; its answer comes back through a pipe, or {"error": ...}."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        code = 0
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            if not os.environ.get("VERBOSE"):
                os.dup2(null, 2)
            os.write(w, json.dumps(record(*args)).encode())
        except BaseException as e:  # what another version does not know, say
            os.write(w, json.dumps({"error": repr(e)}).encode())
            if os.environ.get("VERBOSE"):
                traceback.print_exc()
            code = 1
        os._exit(code)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    os.waitpid(pid, 0)
    return json.loads(text or '{"error": "died"}')

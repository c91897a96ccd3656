"""Recordings are made in processes of their own, forked from one that has loaded everything."""
import json
import os
import shutil
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


def keep(out, answers, **answer):
    """Writes the answer of a pair beside its recordings, or removes them where one of these was not made, and says which."""
    bad = [a["error"] for a in answers if isinstance(a, dict)]
    if bad:
        shutil.rmtree(out, ignore_errors=True)
        print(os.path.basename(out), "not made:", bad[0][:200], flush=True)
        return
    with open(os.path.join(out, "answer.json"), "w") as f:
        json.dump(answer | {"module": answers[-1][0], "calls": answers[-1][1]}, f, indent=1)
    print(os.path.basename(out), flush=True)

"""The off-line analyzer with its prompt. FAKE_TFDBG=hang makes it say nothing,
FAKE_TFDBG=die end after the list."""
import argparse
import json
import os
import re
import time

from tensorflow import note

parser = argparse.ArgumentParser()
parser.add_argument("--dump_dir")
parser.add_argument("--ui_type")
flags = parser.parse_args()
assert flags.ui_type == "readline", flags.ui_type
with open(os.path.join(flags.dump_dir, "tensors.json")) as f:
    tensors = json.load(f)
note("analyzer", pid=os.getpid(), folder=flags.dump_dir)


def listing():
    lines = ["%d dumped tensor(s):" % len(tensors), "", "t (ms)     Size (B) Op type     Tensor name"]
    for i, (kind, name) in enumerate(tensors):
        lines.append("[%d.000]    %-8d %-11s %s" % (i, 4, kind, name))
    return lines


def show(lines, path):
    for line in lines:
        print(line)
    if path:
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")
        print("Wrote output to " + path)


def pt(command):
    # Quotes keep blanks together, and nothing escapes a quote.
    words = re.findall(r'"[^"]*"|\S+', command)
    assert len(words) == 6 and words[2] == "-n" and words[4] == "-w", words
    name, number, path = words[1], int(words[3]), words[5].strip('"')
    count = sum(1 for _, n in tensors if n == name)
    if count == 0 or number >= count:
        print("ERROR: Invalid number (%d) for tensor %s" % (number, name))
        return
    with open(path, "wb") as f:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
        head += b" " * (117 - len(head)) + b"\n"
        f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"\0\0\x80\x3f")
    print('Tensor "%s:DebugIdentity (dump %d)":\narray([1.], dtype=float32)' % (name, number))


print("tfdbg offline @ " + flags.dump_dir)
show(listing(), None)
if os.environ.get("FAKE_TFDBG") == "hang":
    time.sleep(600)
while True:
    print("")
    line = input("tfdbg> ").strip()
    word = line.split(" ")[0]
    if word in ("exit", "quit"):
        break
    if word == "lt":
        show(listing(), line.split("> ")[1] if "> " in line else None)
        if os.environ.get("FAKE_TFDBG") == "die":
            os._exit(3)
    elif word == "pt":
        pt(line)
    else:
        print("ERROR: Invalid command prefix \"%s\"" % word)

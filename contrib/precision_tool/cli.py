#!/usr/bin/env python3
"""python3 ./precision_tool/cli.py [MODE ARGUMENTS]: the shell, or one of its commands."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import program  # noqa: E402

# Words that mean something else to the program.
WORDS = {"compare": "cp", "vector_compare": "vc"}


def main():
    words = sys.argv[1:]
    if words:
        words[0] = WORDS.get(words[0], words[0])
    command = [program.need()] + words
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()

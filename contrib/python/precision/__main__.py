"""python -m precision: the program itself."""
import sys

from precision._program import main

if __name__ == "__main__":
    sys.exit(main())

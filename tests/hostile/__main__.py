"""The command line: see the package's docstring."""

import sys
from pathlib import Path

if __name__ == "__main__":
    tests = Path(__file__).resolve().parent.parent
    sys.path[:1] = [str(tests), str(tests.parent)]  # the tests' helpers, and codegen
    from hostile.processes import main

    sys.exit(main(sys.argv[1:]))

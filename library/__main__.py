"""`python -m opweave`: the command line."""

import sys

from ._weave.cli import main

sys.exit(main())

"""The command `python -m opweave.distributed.run`."""

from . import main

if __name__ == "__main__":
    main()

"""`python -m cyclenet`: the same program as `cyclenet`."""

import sys

from cyclenet.cli import main

if __name__ == "__main__":
    sys.exit(main())

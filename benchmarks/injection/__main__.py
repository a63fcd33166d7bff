"""`python -m benchmarks.injection`."""

import sys

from .command import main

sys.exit(main())

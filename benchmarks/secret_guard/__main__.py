"""`python -m benchmarks.secret_guard`."""

from __future__ import annotations

import sys

from .command import main

sys.exit(main())

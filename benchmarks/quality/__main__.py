"""`python -m benchmarks.quality`, or `python benchmarks/quality` from anywhere."""

from __future__ import annotations

import sys
from pathlib import Path

try:
    if __package__:
        from .command import main
    else:  # the folder was run: it is on the path in place of what it stands in
        here = Path(__file__).resolve().parent
        sys.path[0] = str(here.parent)
        sys.path.append(str(here.parent.parent))  # behind an installed cortex, or PYTHONPATH
        from quality.command import main
except ModuleNotFoundError as error:
    if error.name != "ir_measures":
        raise
    sys.exit("benchmarks.quality: ir_measures is missing; run: pip install ir_measures")

sys.exit(main())

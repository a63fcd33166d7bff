"""Where the folder shared/ beside the checkout lies: case bank, eval vaults, reference."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


def shared(path: str) -> Path:
    """`../shared/<path>`; the test, or the module that asks at import, is skipped without it.

    CORTEX_SHARED names another folder. With CORTEX_REQUIRE_SHARED=1, as in CI, absence is a
    failure: a run that skipped these tests has not shown what it is run for.
    """
    root = Path(os.environ.get("CORTEX_SHARED") or CHECKOUT.parent / "shared")
    found = root / path
    if not found.exists():
        reason = f"{found} is absent"
        if os.environ.get("CORTEX_REQUIRE_SHARED") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason, allow_module_level=True)
    return found

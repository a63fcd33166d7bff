"""What the host is given, in a checkout that lies in its plugins folder."""

from __future__ import annotations

from typing import Any


def register(ctx: Any) -> None:
    """Register the tools, the hooks and `hermes cortex`; never raises."""
    if __package__:
        from .cortex import registration
    else:  # imported by its own name, with the checkout on the path
        from cortex import registration

    registration.register(ctx)

"""One HTML file to look at the link graph with: no network, whatever the notes say.

The page holds its data as JSON, D3 out of the package `gravis`, and our own programs of `page/`.
Its policy lets nothing be fetched and no script run but these, which it knows by their hashes.
"""

from __future__ import annotations

from .data import PARTS, page_data
from .drawing import drawing_source
from .page import page

__all__ = ("PARTS", "drawing_source", "page", "page_data")

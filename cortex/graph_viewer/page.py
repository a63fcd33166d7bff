"""The HTML file: our page with styles, scripts and data put in, and the policy that seals it."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files

from ..types import Json

_PARTS = (  # in the order that they are run
    *("model.js", "labels.js", "stage.js", "looks.js", "shown.js"),
    *("filters.js", "details.js", "search.js", "keys.js", "start.js"),
)
# What would end the element that holds the data, or a line of JavaScript.
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_HALVES = re.compile("[\ud800-\udfff]")  # bytes of names that are not UTF-8


def page(data: Mapping[str, Json], drawing: str) -> str:
    """A whole HTML document. data: of page_data. drawing: of drawing_source.

    Nothing of `data` is anywhere but in one element of JSON, in which no character can end it; the
    programs put it on the page as text. The policy names the scripts and the style by their hashes.
    """
    style = _inline(_file("style.css"))
    painter = _inline(_file("painter.js"))
    program = _inline("\n".join(map(_file, _PARTS)))
    drawing = _inline(drawing)
    # The painter is run twice: on the page, and out of a blob in a worker.
    policy = (
        "default-src 'none'; "
        f"script-src {_hash(painter)} {_hash(drawing)} {_hash(program)}; "
        f"style-src {_hash(style)}; worker-src blob:; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "POLICY": policy,
        "TITLE": html.escape(_whole(str(data["title"]))),
        "STYLE": style,
        "DATA": _embedded(data),
        "PAINTER": painter,
        "DRAWING": drawing,
        "PROGRAM": program,
    }
    # In one go, so that no part is looked through for the place of another.
    return re.sub("@([A-Z]+)@", lambda match: parts[match[1]], _file("page.html"))


def _embedded(data: Mapping[str, Json]) -> str:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _whole(text).translate(_ESCAPES)


def _whole(text: str) -> str:
    return _HALVES.sub("\ufffd", text)


def _inline(source: str) -> str:
    """A script or style as a browser reads it inside its element, so that the hash is of that."""
    text = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    text = re.sub(r"<(?=/(?:script|style))", r"<\\", text, flags=re.IGNORECASE)
    return text.replace("<!--", "<\\!--")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _file(name: str) -> str:
    return (files(__package__) / "page" / name).read_text("utf-8")

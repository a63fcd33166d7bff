"""D3 as the package `gravis` ships it, made to run in a page by itself.

D3 zooms, pans (also by touch), finds the node under the pointer and glides; what draws is ours.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ..errors import CortexError

PACKAGE = "gravis"
_FOLDER = "_internal/plotting/third_party/d3"
# The file calls define(name, dependencies, factory), as for RequireJS.
_SHIM = """var d3 = {};
var require = { defined: function () { return false; } };
var define = function (name, dependencies, factory) { factory(d3); };
"""


def drawing_source() -> str:
    """The script that makes the global `d3`, with its licence in front.

    The package is found, not imported. Raises CortexError where it or the file is missing.
    """
    spec = find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise CortexError(f"{PACKAGE}, which brings D3, is missing in this Python; {_REMEDY}")
    folder = Path(places[0]) / _FOLDER
    try:
        script = (folder / "d3.v7.min.def.js").read_text("utf-8")
        licence = (folder / "ORIGINAL_LICENSE").read_text("utf-8")
    except OSError as error:
        raise CortexError(
            f"{error.filename} of the package {PACKAGE} cannot be read; {_REMEDY}"
        ) from None
    return f"/*\nD3: {licence.replace('*/', '')}*/\n{_SHIM}{script}"


_REMEDY = "run: cortex install"

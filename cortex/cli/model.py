"""`cortex model fetch | list | verify`."""

from __future__ import annotations

import argparse
import os

from ..types import Json
from .options import add_json
from .output import hint, print_json, say, visible
from .progress import progress_for

EXAMPLES = (
    ("model list", "which models there are, and which one is in use"),
    ("model fetch", "get the weights of the default model, once"),
    ("model verify", "hold the weights against their published hashes"),
)
DESCRIPTION = """\
The weights of the embedding model. Only `fetch` uses the network, and it puts nothing in place
that has not the published sha256.

Exit codes: 0 done, all right; 1 a file is wrong, or no source answered; 2 asked wrongly.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    actions = parser.add_subparsers(dest="action", metavar="fetch | list | verify", required=True)
    for name, about in (
        ("fetch", "get the weights of the default model, checked by hash; uses the network"),
        ("list", "the models that can be chosen"),
        ("verify", "read the weights of the default model and compare their hashes"),
    ):
        add_json(actions.add_parser(name, help=about))


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    cortex = Cortex.open(args.config, env=os.environ)
    if args.action == "fetch":
        folder = str(cortex.fetch_model(progress_for(args)))
        default, *others = cortex.models()
        for other in others:
            if other["chosen"]:
                how = "auto chose" if "auto" in other else "embeddings.model is"
                say(f"{how} {other['name']}, so {default['name']} is not used")
        if args.json:
            print_json({"folder": folder})
        else:
            print(f"the default model is in {visible(folder)}")
        return 0
    if args.action == "list":
        models = cortex.models()
        if args.json:
            print_json({"models": models})
        else:
            print("\n".join(_line(model) for model in models))
            for model in models:
                if advice := model.get("auto", {}).get("advice"):
                    print(visible(hint(advice)))
        return 0
    files = cortex.verify_model()
    if args.json:
        rows = [{"file": name, "right": right, "seen": seen} for name, right, seen in files]
        print_json({"files": rows})
    else:
        for name, right, seen in files:
            print(visible(f"{'right' if right else 'wrong'}  {name}: {hint(seen)}"))
    return 0 if all(right for _, right, _ in files) else 1


def _line(model: dict[str, Json]) -> str:
    """`* name: 384 numbers a vector, en; here`; the star marks the one that config chooses."""
    about = []
    if model.get("dimensions"):
        about.append(f"{model['dimensions']} numbers a vector, {_languages(model)}")
    if model["available"] is not None:
        about.append("here" if model["available"] else hint(f"not here; to get it: {model['get']}"))
    if "auto" in model:
        why = model["auto"]["why"]
        about.append("chosen by auto" + (f", as {why}" if why else ""))
    mark = "*" if model["chosen"] else " "
    return visible(f"{mark} {model['name']}" + (f": {'; '.join(about)}" if about else ""))


def _languages(model: dict[str, Json]) -> str:
    return " ".join(model["languages"])

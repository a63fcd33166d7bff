"""How messages name a command to run: `cortex index`, or as it is typed where the reader is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

PROGRAM = "cortex"
IN_HOST = "hermes cortex"

# Only where our own messages name one. The same words in the text or the name of a note stay.
_HINT = re.compile(
    r"""((?:^|[;?,][ ])(?:(?:or|and|then)[ ])?run:[ ]
      |;[ ](?:see|to[ ]get[ ]it|to[ ]turn[ ]it[ ]on|look[ ]for[ ]it[ ]with):[ ]
      |;[ ](?:all[ ]of[ ]them|the[ ]rest):[ ]
      |(?:^next|,[ ]or[ ]keep[ ]both):[ ]
      |,[ ]e\.g\.[ ]|[ ]&&[ ])
      (?:hermes[ ])?cortex[ ]
      (?=(?:init|index|embed|model|graph|search|context|inject|pack|read|config|status|install
           |hook|version|doctor|reset|lifecycle|cron|note|validate-frontmatter|wiki-health|session-sources
           |completion|--help)\b)""",
    re.VERBOSE,
)


def in_host(home: Path, default: Path) -> str:
    """What is typed in the host to run us for `home`, with the profile where it is one.

    default: the home of plain `hermes`. One elsewhere, which HERMES_HOME names, has profiles too.
    """
    is_profile = home.parent == default / "profiles"
    if is_profile or (home.parent.name == "profiles" and default not in home.parents):
        return f"hermes -p {shlex.quote(home.name)} cortex"
    return IN_HOST


def host_itself(home: Path, default: Path) -> str:
    """What is typed to run the host for `home`: `hermes`, or `hermes -p NAME`."""
    return in_host(home, default).removesuffix(f" {PROGRAM}")


def as_typed(text: str, program: str) -> str:
    """`text` with the commands that it says to run begun with `program`."""
    if program == PROGRAM:
        return text
    return _HINT.sub(lambda match: f"{match[1]}{program} ", text)

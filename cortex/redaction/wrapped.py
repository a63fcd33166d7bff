"""A key that goes on in the next line: wrapped by an editor, a mail or a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .finding import Finding

# Prefixes that nothing else has, so that the little that fits into a line is enough.
_BEGUN = re.compile(
    r"""(?<![A-Za-z0-9])(?: sk-(?:ant|proj|or|svcacct|admin)- | gh[opsru]_ | github_pat_ | glpat-
    | xox[abceoprs]- | AIza | npm_ | hf_ | gsk_ | xai- | r8_ | pplx- | nvapi- | GOCSPX- | ya29\.
    | [sr]k_live_ | pypi-AgE | dop_v1_ | hvs\. | SG\. | shpat_ | sbp_ | ntn_ | lin_api_ | dckr_pat_
    | eyJ[A-Za-z0-9_\-]{12} | AGE-SECRET-KEY-1 )
    [A-Za-z0-9_\-.]{4,300} (?P<first> \\{0,2} (?:\r\n|\n|\r) )""",
    re.VERBOSE,
)
_NEXT = re.compile(
    r"""[ \t>|]{0,16} (?P<run>[A-Za-z0-9_\-.~+/=]{6,300})
    (?: [`"',;)]{0,3} [ \t]{0,4} (?: (?P<more> \\{0,2} (?:\r\n|\n|\r) ) | \Z ) )""",
    re.VERBOSE,
)
_KEY_BEGINS = re.compile(r"[A-Za-z]{2,12}[0-9]?[_\-][A-Za-z0-9]")
_MAX_LINES = 12


def search(text: str) -> Iterator[Finding]:
    """Keys of two lines or more; a line that is a word, or begins a key itself, is no part."""
    for begun in _BEGUN.finditer(text):
        at = begun.end()
        end = None
        for _ in range(_MAX_LINES):
            line = _NEXT.match(text, at)
            if line is None or not _is_part(line["run"]):
                break
            end = line.end("run")
            if line["more"] is None:
                break
            at = line.end()
        if end is not None:
            yield Finding(begun.start(), end, "api_key")


def _is_part(run: str) -> bool:
    return (
        re.search("[0-9]", run) is not None
        and re.search("[A-Za-z]", run) is not None
        and _KEY_BEGINS.match(run) is None
        and len(set(run)) >= 5
    )

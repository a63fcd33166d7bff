"""Cases drafted from a vault: its titles, aliases and headings as questions, for people to edit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from ..types import Json
from ..vault.reading import folded

COUNT = 20
_KINDS = ("alias", "heading", "title")  # what makes the question: the one with the fewest yet
_TOP_K = {"title": 3, "alias": 3, "heading": 5}
_SHORTEST = 3  # letters of a name that can be asked for
_TEMPLATES = re.compile(r"templates?|vorlagen?|modelos?|modèles?|模板|テンプレート", re.IGNORECASE)

_HEAD = """\
# Cases for: cortex search-eval
#
# Drafted from the titles, aliases and headings of your notes. These are easy questions: their words
# stand in the note. Make them yours: put in what you do ask, in your own words; delete the rest.
#
#   - id: roof-decision             # any name, each once; a baseline knows the case by it
#     query: why did we not take slate
#     expected_files:               # one path, or a list; one of them must be found
#       - decisions/Roof.md
#       - file: meetings/2025-03-02.md
#         heading: The roof         # only this section counts; or lines: 12-20
#         grade: 1                  # a better answer has a higher one (1 if left out)
#     expected_top_k: 3             # among so many hits (5 if left out)
#     must_not: decisions/Old roof.md     # and this one not among them
#     filters: {type: decision}     # as in cortex search
#     tags: [decisions, paraphrase] # groups in the report
#     notes: anything you like
"""


def drafted(notes: Iterable[Mapping[str, Json]], count: int = COUNT) -> list[dict[str, Json]]:
    """At most `count` cases, by the records of notes.jsonl; the same for the same vault.

    Notes are taken from all folders in turn, each once. Left out are empty notes, templates,
    names that several notes have, and those without letters, as of daily notes.
    """
    every = list(notes)
    owners = _owners(every)
    by_folder: dict[str, list[Mapping[str, Json]]] = {}
    for note in every:
        folder = note["file"].rpartition("/")[0]
        if note["chunks"] and note["headings"] is not None and not _TEMPLATES.search(folder):
            by_folder.setdefault(folder.partition("/")[0], []).append(note)
    queues = [
        sorted(found, key=lambda note: _shuffled(note["file"]))
        for _, found in sorted(by_folder.items())
    ]
    cases: list[dict[str, Json]] = []
    made = dict.fromkeys(_KINDS, 0)
    while queues and len(cases) < count:
        queues = [queue for queue in queues if queue]
        for queue in queues:
            if not queue or len(cases) == count:
                continue
            note = queue.pop(0)
            for kind in sorted(_KINDS, key=lambda kind: made[kind]):
                if case := _case(note, kind, owners):
                    cases.append(case)
                    made[kind] += 1
                    break
    return _with_ids(cases)


def as_yaml(cases: Sequence[Mapping[str, Json]]) -> str:
    """The cases as a commented file."""
    import yaml

    texts: list[str] = [
        yaml.safe_dump(
            [dict(case)], allow_unicode=True, sort_keys=False, width=1000, default_flow_style=None
        )
        for case in cases
    ]
    return f"{_HEAD}\n" + "\n".join(texts)


def _owners(notes: Sequence[Mapping[str, Json]]) -> dict[str, int]:
    """How many notes have each name."""
    counts: dict[str, int] = {}
    for note in notes:
        for name in {folded(name) for name in (note["title"], *note["aliases"])}:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _shuffled(path: str) -> bytes:
    """An order that is no order of the vault, and the same each time."""
    return blake2b(path.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _case(note: Mapping[str, Json], kind: str, owners: Mapping[str, int]) -> dict[str, Json] | None:
    """A case of that kind; None if the note has nothing for it."""
    title = note["title"]
    if kind == "heading":
        own = [text for _, text, _, _ in note["headings"]]
        names = [
            text
            for level, text, _, _ in note["headings"]
            if level > 1 and own.count(text) == 1 and _can_be_asked(text)
        ]
        if not names or not _can_be_asked(title):
            return None
        heading = names[len(names) // 2]  # neither the introduction nor the links at the end
        tops = [at for at, (level, *_) in enumerate(note["headings"]) if level == 1]
        place = own[0] if tops == [0] else title  # a heading over all of it says what it is about
        query = heading if folded(place) in folded(heading) else f"{place} {heading}"
        expected: Json = [{"file": note["file"], "heading": heading}]
    else:
        names = [title] if kind == "title" else list(note["aliases"])
        names = [name for name in names if owners.get(folded(name)) == 1 and _can_be_asked(name)]
        if not names:
            return None
        query, expected = names[0], [note["file"]]
    return {
        "id": "",
        "query": " ".join(query.split()),
        "expected_files": expected,
        "expected_top_k": _TOP_K[kind],
        "tags": [kind],
    }


def _can_be_asked(name: str) -> bool:
    letters = sum(1 for char in name if char.isalpha())
    is_wide = any(ord(char) > 0x2E7F for char in name)  # a word in Chinese may be two characters
    return letters >= (2 if is_wide else _SHORTEST) and len(name) <= 200


def _with_ids(cases: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Each with an id out of its question, with a number where two would be the same."""
    taken: set[str] = set()
    for case in cases:
        words = re.findall(r"\w+", folded(case["query"]))
        name = "-".join([case["tags"][0], *words])[:48].rstrip("-")
        number = 2
        wanted = name
        while wanted in taken:
            wanted, number = f"{name}-{number}", number + 1
        taken.add(wanted)
        case["id"] = wanted
    return cases

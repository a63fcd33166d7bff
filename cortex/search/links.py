"""Which notes a name means, and which notes lie around them by links that somebody wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..indexer.names import name_key, names_of
from ..types import Json, key64
from ..vault.reading import by_name, folded, nearest
from .channels import LinkGraph

NEAR_HOPS = 2


class Names:
    """Notes by path, title, alias and file name, as reading one finds it."""

    def __init__(self, notes: Sequence[Mapping[str, Json]]) -> None:
        self._paths = [str(note["file"]) for note in notes]
        self._titles: dict[str, list[str]] = {}
        self._keys: dict[str, list[str]] = {}
        self._shown: dict[str, str] = {}  # name -> path, for what was mistyped
        for note in notes:
            path = str(note["file"])
            for name in (note["title"], *note["aliases"]):
                self._titles.setdefault(folded(name), []).append(path)
            for name in names_of(note):
                self._keys.setdefault(name_key(name), []).append(path)
                self._shown.setdefault(name, path)

    def named(self, ref: str) -> list[str]:
        """The paths that a name means, with or without `.md` or [[brackets]]; in order, once.

        A path goes before a title or alias, and those before what differs in signs alone.
        """
        name = ref.strip().removeprefix("[[").removesuffix("]]")
        for wanted in dict.fromkeys((name, name.split("|")[0].split("#")[0])):
            wanted = wanted.strip().strip("/")
            if not wanted:
                continue
            found = by_name(wanted, self._paths) or self._titles.get(folded(wanted), [])
            if not found:
                found = self._keys.get(name_key(wanted.removesuffix(".md")), [])
            if found:
                return list(dict.fromkeys(found))
        return []

    def nearest(self, ref: str) -> str | None:
        """The path whose name is most like one that means nothing; None if none is."""
        near = nearest(ref.strip("[] ").removesuffix(".md"), self._shown, 1)
        return self._shown[near[0]] if near else None


class WrittenLinks:
    """The edges of the graph that are links: what a text only mentions is none."""

    def __init__(self, graph: LinkGraph) -> None:
        is_link = graph.kinds == graph.kind_names.index("link")
        sources: NDArray[np.uint64] = np.repeat(graph.sources, np.diff(graph.pointers))
        self._sources, self._targets = sources[is_link], graph.targets[is_link]

    def sources_of(self, notes: Iterable[str]) -> set[int]:
        """The keys of the notes that link to any of these paths."""
        return self._beside(self._targets, self._sources, _keys(notes))

    def targets_of(self, notes: Iterable[str]) -> set[int]:
        return self._beside(self._sources, self._targets, _keys(notes))

    def around(self, notes: Iterable[str], hops: int = NEAR_HOPS) -> set[int]:
        """The keys of these paths, and of all within so many links, whichever way they point."""
        found = last = _keys(notes)
        for _ in range(hops):
            last = self._beside(self._sources, self._targets, last) | self._beside(
                self._targets, self._sources, last
            )
            last -= found
            found = found | last
        return found

    def _beside(
        self, near: NDArray[np.uint64], far: NDArray[np.uint64], keys: set[int]
    ) -> set[int]:
        wanted = np.fromiter(keys, dtype=np.uint64, count=len(keys))
        return set(far[np.isin(near, wanted)].tolist())


def _keys(notes: Iterable[str]) -> set[int]:
    return {key64(note) for note in notes}

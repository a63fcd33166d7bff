"""The link graph, built from what the notes say: nodes, edges, broken links, and edge weights.

Edges are what somebody wrote (links, embeds, tags, lifecycle properties) and, of a kind of their
own, `mentions`: implied links, where the body of one note names the title or an alias of another.
Beside them stand the names that a few notes share (graph_names.py).
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .files import dumps, replacing, write_json
from .graph_names import NameCollector, SharedName, name_arrays
from .graph_resolve import Resolution, Resolver, names_of
from .protocols import Progress
from .types import Json, key64

LIFECYCLE = ("derived_from", "supports", "contradicts", "supersedes", "superseded_by", "related")
LINK, MENTION = 0, 1  # values of adj_kind

_LINES_KEPT = 5  # of one edge: where to look, not a full list
_LINK_SHARE = 0.5  # RANKING section 4: written links at full weight do harm (menus, index notes)
_SHOWN_PROPERTIES = ("type", "status", "importance", "confidence", "last_verified")
_TAG = re.compile(r"(?<!\S)#([^\s#,.;:!?()\[\]{}<>'\"`|\\]+)")

_Note = Mapping[str, Json]  # a record of notes.jsonl


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """What a build wrote."""

    nodes_by_type: Mapping[str, int]
    edges_by_type: Mapping[str, int]
    broken_by_kind: Mapping[str, int]

    @property
    def node_count(self) -> int:
        return sum(self.nodes_by_type.values())

    @property
    def edge_count(self) -> int:
        return sum(self.edges_by_type.values())

    @property
    def broken_count(self) -> int:
        return sum(self.broken_by_kind.values())


def build_graph(
    notes: Sequence[_Note],
    chunks: Iterable[Mapping[str, Json]],
    files: Collection[str],
    folder: Path,
    progress: Progress | None = None,
) -> GraphCounts:
    """Write the graph of a vault into `folder`. Equal input gives equal bytes.

    notes, chunks: the records of notes.jsonl and chunks.jsonl. files: the paths of the vault's
    other files, which links may name. The time is linear in the text and in the links.

    graph_nodes, graph_edges, graph_broken and graph_names.jsonl are for people and programs,
    graph_stats.json counts them. The arrays adj_*.npy are for the graph channel, see `_adjacency`,
    and so are those of `name_arrays`.
    """
    graph = _Graph(notes, files)
    mentions = _Mentions(notes)
    collector = NameCollector(len(notes), _EMPTY_WORDS)
    titled = -1
    for note in notes:
        graph.add_note(note)
    if progress:
        progress.start("links", len(notes), "notes")
    place = None
    for chunk in chunks:
        at = graph.index.get(chunk["file"])
        if at is None:
            continue
        if progress and at != place:
            progress.advance()
        place = at
        text = _prose(chunk["text"])
        graph.add_chunk(chunk, text)
        for untold in range(titled + 1, at + 1):
            collector.read_title(untold, str(notes[untold]["title"]))
        titled = max(titled, at)
        if chunk["text"].strip() not in chunk.get("heading_path", ()):  # a heading and no more
            mentions.read(at, text, (chunk["start_line"], chunk["end_line"]))
            collector.read(at, text)
    for source, target, mention in mentions.found():
        graph.add_mention(source, target, mention)
    counts = graph.write(folder, list(collector.found()))
    if progress:
        progress.finish()
    return counts


@dataclass(slots=True)
class _Edge:
    count: int = 0
    lines: list[int] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    mention: Mention | None = None

    def metadata(self, rarity: float) -> dict[str, Json]:
        """rarity: of the target, see `_rarity`."""
        shown: dict[str, Json] = {"count": self.count}
        for name in ("lines", "sections", "properties"):
            if values := getattr(self, name):
                shown[name] = sorted(values)
        if self.mention:
            shown["name"] = self.mention.name
            shown["within_lines"] = list(self.mention.lines)
            if self.mention.sharing > 1:
                shown["sharing"] = self.mention.sharing
            shown["weight"] = rarity / self.mention.sharing
        return shown


@dataclass(slots=True)
class _Broken:
    resolution: Resolution
    count: int
    line: int | None


class _Graph:
    """Collects what the notes link to, then writes it."""

    def __init__(self, notes: Sequence[_Note], files: Collection[str]) -> None:
        self.index = {str(note["file"]): at for at, note in enumerate(notes)}
        self._notes = notes
        self._resolver = Resolver(notes, files)
        self._nodes: dict[str, dict[str, Json]] = {}
        self._edges: dict[str, dict[tuple[str, str], _Edge]] = {}  # source id -> (target id, type)
        self._broken: dict[tuple[str, str, str, str], _Broken] = {}
        self._tag_uses: Counter[tuple[str, str]] = Counter()
        self._linked: list[set[int]] = [set() for _ in notes]  # note -> notes that it links to
        self._mentioned: list[dict[int, float]] = [{} for _ in notes]  # -> 1 / notes of that name

    def add_note(self, note: _Note) -> None:
        """A note itself, its tags, and the links in its properties."""
        path = str(note["file"])
        meta = note.get("frontmatter") or {}
        shown = {name: meta[name] for name in _SHOWN_PROPERTIES if meta.get(name) is not None}
        if aliases := names_of(note.get("aliases")):
            shown["aliases"] = aliases
        self._add_node(f"note:{path}", "note", str(note["title"]), path, shown)
        for tag in names_of(note.get("tags")):
            if label := tag.lstrip("#"):
                self._add_node(_tag_id(label), "tag", label)
                self._edge(f"note:{path}", _tag_id(label), "tagged_with").count = 1
        for link in note.get("links") or ():
            self._add_link(path, link)

    def add_chunk(self, chunk: Mapping[str, Json], text: str) -> None:
        """The links and tags in a part of a body; `text` is its text without code and links."""
        source = f"note:{chunk['file']}"
        for link in chunk.get("links") or ():
            self._add_link(str(chunk["file"]), link)
        listed = Counter(_tag_id(tag.lstrip("#")) for tag in names_of(chunk.get("tags")))
        seen = Counter(_tag_id(tag) for tag in _TAG.findall(text)) if listed else Counter()
        for tag, count in listed.items():
            edge = self._edges.get(source, {}).get((tag, "tagged_with"))
            if edge is not None:
                self._tag_uses[source, tag] += max(count, seen[tag])
                edge.count = self._tag_uses[source, tag]
                _keep(edge.lines, chunk["start_line"])

    def add_mention(self, source: int, target: int, mention: Mention) -> None:
        ids = [f"note:{self._notes[at]['file']}" for at in (source, target)]
        edge = self._edge(ids[0], ids[1], "mentions")
        edge.count, edge.mention = mention.count, mention
        self._mentioned[source][target] = 1 / mention.sharing

    def _add_link(self, path: str, link: Mapping[str, Json]) -> None:
        found = self._resolver.resolve(path, link)
        name = link.get("property")
        if found.fault:
            self._add_broken(path, link, found)
        if found.path is None:
            return
        kind = _lifecycle(name) or ("embeds" if link.get("kind") == "embed" else "links_to")
        source = f"note:{path}"
        edges = []
        if found.kind == "attachment":
            target = f"attachment:{found.path}"
            self._add_node(target, "attachment", found.path.rpartition("/")[2], found.path)
            edges.append(self._edge(source, target, kind))
        elif found.path != path:
            edges.append(self._edge(source, f"note:{found.path}", kind))
            self._linked[self.index[path]].add(self.index[found.path])
            if found.kind in ("heading", "block"):
                section = f"^{found.block}" if found.block else found.heading[-1]
                _keep(edges[0].sections, section)
        if found.kind in ("heading", "block"):
            edges.append(self._edge(source, self._add_place(found), kind))
        for edge in edges:
            edge.count += 1
            if isinstance(link.get("line"), int):
                _keep(edge.lines, link["line"])
            if isinstance(name, str):
                _keep(edge.properties, name)

    def _add_place(self, found: Resolution) -> str:
        """The node of a linked heading or block, which its note contains."""
        if found.block:
            node, kind, label = f"block:{found.path}#^{found.block}", "block", f"^{found.block}"
        else:
            node, kind = f"heading:{found.path}#{'#'.join(found.heading)}", "heading"
            label = found.heading[-1]
        if node not in self._nodes:
            self._add_node(node, kind, label, found.path, {"line": found.line})
            self._edge(f"note:{found.path}", node, "contains").count = 1
        return node

    def _add_broken(self, path: str, link: Mapping[str, Json], found: Resolution) -> None:
        name = link.get("property")
        context = f"frontmatter:{name}" if isinstance(name, str) else "body"
        raw = found.target
        if found.fault in ("missing_heading", "missing_block"):
            raw = f"{raw}#{found.subpath}"
        line = link.get("line")
        line = line if isinstance(line, int) else None
        entry = self._broken.setdefault(
            (path, raw, str(found.fault), context), _Broken(found, 0, line)
        )
        entry.count += 1
        if line is not None:
            entry.line = min(line, entry.line or line)

    def _add_node(
        self,
        node: str,
        kind: str,
        label: str,
        file: str | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> None:
        if node not in self._nodes:
            record: dict[str, Json] = {"id": node, "type": kind, "label": label}
            if file is not None:
                record["file"] = file
            if metadata:
                record["metadata"] = dict(metadata)
            self._nodes[node] = record

    def _edge(self, source: str, target: str, kind: str) -> _Edge:
        targets = self._edges.setdefault(source, {})
        edge = targets.get((target, kind))
        if edge is None:
            edge = targets[target, kind] = _Edge()
        return edge

    def write(self, folder: Path, names: Sequence[SharedName]) -> GraphCounts:
        nodes = Counter(str(node["type"]) for node in self._nodes.values())
        edges = Counter(kind for targets in self._edges.values() for _, kind in targets)
        broken = Counter(kind for _, _, kind, _ in self._broken)
        counts = GraphCounts(*(dict(sorted(one.items())) for one in (nodes, edges, broken)))
        _write(folder / "graph_nodes.jsonl", (self._nodes[key] for key in sorted(self._nodes)))
        _write(folder / "graph_edges.jsonl", self._edge_records())
        _write(folder / "graph_broken.jsonl", self._broken_records())
        paths = [str(note["file"]) for note in self._notes]
        _write(
            folder / "graph_names.jsonl",
            (
                {"name": n.text, "notes": [paths[at] for at in n.notes], "weight": n.weight}
                for n in names
            ),
        )
        arrays = _adjacency(self._notes, self._linked, self._mentioned)
        arrays |= name_arrays(names, list(map(key64, paths)))
        for name, array in arrays.items():
            with replacing(folder / f"{name}.npy") as file:
                np.save(file, array)
        stats = {
            "node_count": counts.node_count,
            "edge_count": counts.edge_count,
            "broken_count": counts.broken_count,
            "nodes_by_type": counts.nodes_by_type,
            "edges_by_type": counts.edges_by_type,
            "broken_by_kind": counts.broken_by_kind,
        }
        write_json(folder / "graph_stats.json", stats)
        return counts

    def _edge_records(self) -> Iterator[dict[str, Json]]:
        rarity = {
            f"note:{self._notes[at]['file']}": value
            for at, value in _rarity(len(self._notes), self._linked, self._mentioned).items()
        }
        for source in sorted(self._edges):
            targets = self._edges[source]
            for target, kind in sorted(targets):
                metadata = targets[target, kind].metadata(rarity.get(target, 0.0))
                yield {"source": source, "target": target, "type": kind, "metadata": metadata}

    def _broken_records(self) -> Iterator[dict[str, Json]]:
        for key in sorted(self._broken):
            path, raw, kind, context = key
            entry = self._broken[key]
            record: dict[str, Json] = {
                "source_node": f"note:{path}",
                "source": path,
                "target_raw": raw,
                "kind": kind,
                "context": context,
                "line": entry.line,
                "count": entry.count,
            }
            if entry.resolution.candidates:
                record["candidates"] = list(entry.resolution.candidates)
            elif entry.resolution.path:
                record["target"] = entry.resolution.path
            yield record


def _rarity(
    count: int, linked: Sequence[AbstractSet[int]], named: Sequence[Mapping[int, float]]
) -> dict[int, float]:
    """ln(n / in) / ln n of each note that others link to or name: n notes, `in` of them do."""
    incoming = Counter(
        target for to, by in zip(linked, named, strict=True) for target in to | by.keys()
    )
    return {at: math.log(count / found) / math.log(count) for at, found in incoming.items()}


def _adjacency(
    notes: Sequence[_Note], linked: Sequence[AbstractSet[int]], named: Sequence[Mapping[int, float]]
) -> dict[str, NDArray[Any]]:
    """The note-to-note edges as arrays, forward only, weighted as in RANKING section 4.

    An edge weighs share * rarity of its target, so a note that all point to weighs nothing. The
    share is 0.5 for a written link, 1 / m
    for a mention of a name that m notes have; the larger counts, and a pair with both is a link.
    A note never points to itself, so `in` is below n and every weight above 0.
    """
    pairs = [
        (key64(str(notes[source]["file"])), source, target)
        for source in range(len(notes))
        for target in linked[source] | named[source].keys()
    ]
    rarity = _rarity(len(notes), linked, named)
    keys = {target: key64(str(notes[target]["file"])) for target in rarity}
    rows = []
    for key, source, target in pairs:
        is_link = target in linked[source]
        share = max(_LINK_SHARE if is_link else 0.0, named[source].get(target, 0.0))
        rows.append((key, keys[target], share * rarity[target], LINK if is_link else MENTION))
    rows.sort()
    sources, starts = np.unique(
        np.array([row[0] for row in rows], dtype=np.uint64), return_index=True
    )
    return {
        "adj_src": sources,
        "adj_ptr": np.append(starts, len(rows)).astype(np.int64),
        "adj_dst": np.array([row[1] for row in rows], dtype=np.uint64),
        "adj_weight": np.array([row[2] for row in rows], dtype=np.float32),
        "adj_kind": np.array([row[3] for row in rows], dtype=np.uint8),
    }


def _lifecycle(name: Json) -> str | None:
    """The edge type of a property, however it is written; None if it is no lifecycle property."""
    kind = re.sub(r"[\s-]+", "_", name.strip().casefold()) if isinstance(name, str) else None
    kind = _SPELLED_OTHERWISE.get(kind or "", kind)
    return kind if kind in LIFECYCLE else None


_SPELLED_OTHERWISE = {"replaces": "supersedes", "replaced_by": "superseded_by"}


def _tag_id(tag: str) -> str:
    return f"tag:{unicodedata.normalize('NFC', tag).casefold().rstrip('/')}"


def _keep(values: list[Any], value: Any) -> None:
    if len(values) < _LINES_KEPT and value not in values:
        values.append(value)


def _write(path: Path, records: Iterable[Json]) -> None:
    with replacing(path) as file:
        for record in records:
            line = dumps(record)
            try:
                file.write(line.encode("utf-8") + b"\n")
            except UnicodeEncodeError:
                # A file name that is not UTF-8; JSON can spell it, UTF-8 can't.
                file.write(json.dumps(record, allow_nan=False).encode("ascii") + b"\n")


# Implied links -------------------------------------------------------------------------------


@dataclass(slots=True)
class Mention:
    """How one note names another."""

    name: str  # as first written there
    count: int
    lines: tuple[int, int]  # of the chunk that has it first
    sharing: int  # how many notes have that name


# Scripts written without blanks between words: each character is a token. Katakana stands for
# itself in runs, and Hangul has blanks, but its particles hang on the word.
_UNSPACED = "\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SOUTH_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_KATAKANA = "\u30a1-\u30fa\u30fc"
_GAP = "\ue000"  # a token of its own that is part of no name: where text was taken out
# An apostrophe parts words, so that "Germany's" names Germany.
_WORD = re.compile(
    rf"(?<!\S)#[^\s#]+|[{_UNSPACED}{_SOUTH_ASIAN}{_GAP}]|[{_KATAKANA}]+"
    rf"|[^\W_{_UNSPACED}{_SOUTH_ASIAN}{_KATAKANA}]+"
)
_IDEOGRAPH = re.compile(f"[{_UNSPACED}]")
_SYLLABLE = re.compile(f"[{_UNSPACED}\uac00-\ud7a3]")
_HANGUL = re.compile("[\uac00-\ud7a3]+")
_PARTICLE_LENGTH = 3  # syllables at most: "에서는"
_TRAILING_PARENTHESIS = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_DIGITS = re.compile(r"\d+[^\W\d_]{0,2}|[^\W\d_]\d+")  # 12, 3rd, 2h, w37

_MIN_LETTERS = 4
_MIN_IDEOGRAPHS, _MIN_IDEOGRAPHS_OF_ALIAS = 2, 3
_MAX_SHARING = 3
_MAX_PART_OF_NOTES = 0.2
_FEW_IDEOGRAPHS = 4

# What is taken out before names are looked for: code, links (those are edges already), addresses.
_NOT_PROSE = re.compile(
    r"""
    ^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)|\Z)
    | (?<!`)(?P<ticks>`+)(?!`)[^\n]{1,500}?(?<!`)(?P=ticks)(?!`)
    | !?\[\[[^\[\]\n]{1,1000}\]\]
    | (?<=\])\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,2000})?(?:\s+"[^"\n]{0,500}")?\)
    | \b[a-z][a-z0-9+.-]{1,20}://[^\s<>]+
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL | re.IGNORECASE,
)

# Names made of these and of digits alone say nothing: function words, months and days.
_EMPTY_WORDS = frozenset(
    """
    a about after all also an and any are as at be been before being but by can could did do does
    done each for from get had has have he her here him his how i if in into is it its just like me
    more most my new no not now of off on one only or other our out over own per she so some such
    than that the their them then there these they this those through to too under up us very via
    was we were what when where which while who why will with would you your d l ll m re s t ve
    januar februar märz april mai juni juli august september oktober november dezember
    january february march may june july october december jan feb mar apr jun jul aug sep sept oct
    okt nov dec dez monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat
    sun montag dienstag mittwoch donnerstag freitag samstag sonntag today tomorrow yesterday week
    day month year am pm
    aber als am an auch auf aus bei bis das dass dem den der des die doch durch ein eine einem einen
    einer eines er es für hat ich im ihr ist kein mit nach nicht noch nur oder ohne sein sich sie
    sind so über um und uns unter vom von vor war was wenn wer wie wir zu zum zur
    au aux avec ce ces dans de des du elle en est et il je la le les leur mais ne nous on ou par pas
    plus pour qui que sans se ses son sur un une vous janvier février mars avril juin juillet août
    octobre novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche
    al como con del el ella en es esta este la las lo los más no o para pero por que se sin su sus
    un una y enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre
    diciembre
    che da dei del della di e gli i il in la le nel non per si sono un una
    的 了 是 在 我 你 他 她 它 们 这 那 和 与 也 不 有 就 都 而 及 或 一 年 月 日 周 号 星 期
    第 个 上 下 の は が を に で と も
    """.split()  # noqa: SIM905
)


def _prose(text: str) -> str:
    """`text` in composed letters, without code, links and addresses."""
    return _NOT_PROSE.sub(f" {_GAP} ", unicodedata.normalize("NFC", text))


class _Mentions:
    """Finds in running text the names of notes: the longest at each place, and from there on.

    A name is a title or an alias, also without a trailing "(..)". It needs four letters (or two
    ideographs; as an alias three, for two are mostly a common word), and a word that is not a
    function word, a number or a date; at most three notes may share it. A name with one such word
    counts where that is capitalised, if the vault capitalises it more often than not and at most a
    fifth of the notes have it. The last holds for names of few ideographs too. Headings are not
    read: nearly every one is capitalised, and few name a note.

    Seen in samples: "more often than not" parts names (GitHub, Airtable) from words (example,
    related) with few mistakes in a documentation vault and two sets of encyclopedic passages. Of a
    Chinese vault's titles of two ideographs some two thirds are things; next to no such alias is.
    """

    def __init__(self, notes: Sequence[_Note]) -> None:
        self._note_count = len(notes)
        owners: dict[str, list[int]] = {}
        for at, note in enumerate(notes):
            keys = list(_name_keys(str(note["title"]), _MIN_IDEOGRAPHS))
            for alias in names_of(note.get("aliases")):
                keys.extend(_name_keys(alias, _MIN_IDEOGRAPHS_OF_ALIAS))
            for key in dict.fromkeys(keys):
                owners.setdefault(key, []).append(at)
        self._names = [key.split(" ") for key in owners]
        self._owners = list(owners.values())
        self._one_word = [_one_word(words) for words in self._names]
        # Every name and every beginning of one, in words -> the name's index, -1 if none ends here.
        self._known: dict[str, int] = {}
        for index, key in enumerate(owners):
            self._known[key] = index
            at = key.find(" ")
            while at >= 0:
                self._known.setdefault(key[:at], -1)
                at = key.find(" ", at + 1)
        self._hangul = {word for words in self._names for word in words if _HANGUL.match(word)}
        self._seen: dict[int, Counter[int]] = {}  # name of one word -> note -> how often, any case
        self._found: dict[tuple[int, int], Mention] = {}  # (note, name)

    def read(self, note: int, text: str, lines: tuple[int, int]) -> None:
        """Look for names in a piece of prose of `note`."""
        words = _words(text)
        for name, start, end in self._matches(_fold(words, self._hangul)):
            owners = self._owners[name]
            if owners == [note] or len(owners) > _MAX_SHARING:
                continue
            only = self._one_word[name]
            if only is not None:
                self._seen.setdefault(name, Counter())[note] += 1
                if words[start + only].islower():
                    continue
            found = self._found.get((note, name))
            if found is None:
                found = Mention(_joined(words[start:end]), 0, lines, len(owners))
                self._found[note, name] = found
            found.count += 1

    def _matches(self, words: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        """(name, start, end) of each longest name in `words`, from left to right."""
        known = self._known
        done = 0
        for start in [at for at, word in enumerate(words) if word in known]:
            if start < done:
                continue
            key, end, name = words[start], start + 1, -1
            at = known.get(key)
            while at is not None:
                if at >= 0:
                    name, done = at, end
                if end == len(words):
                    break
                key = f"{key} {words[end]}"
                end += 1
                at = known.get(key)
            if name >= 0:
                yield name, start, done

    def found(self) -> Iterator[tuple[int, int, Mention]]:
        """(note, note it names, how) for each pair, by the name that the fewest notes share."""
        limit = max(1.0, _MAX_PART_OF_NOTES * self._note_count)
        capitalised: Counter[int] = Counter()
        for (_, name), mention in self._found.items():
            capitalised[name] += mention.count
        words = {
            name
            for name, seen in self._seen.items()
            if len(seen) > limit or capitalised[name] * 2 < seen.total()
        }
        best: dict[tuple[int, int], Mention] = {}
        for (note, name), mention in self._found.items():
            if name in words:
                continue
            for owner in self._owners[name]:
                if owner == note:
                    continue  # the others of that name are a likely topic all the same
                other = best.setdefault((note, owner), mention)
                if (mention.sharing, -mention.count) < (other.sharing, -other.count):
                    best[note, owner] = mention
        for (note, owner), mention in best.items():
            yield note, owner, mention


def _name_keys(name: str, min_ideographs: int) -> Iterator[str]:
    """The forms of a name as folded words, if they tell anything."""
    for form in (name, _TRAILING_PARENTHESIS.sub("", name)):
        words = _fold(_words(form))
        is_short = len(words) < min_ideographs and all(map(_IDEOGRAPH.fullmatch, words))
        is_short = is_short or sum(map(_letters, words)) < _MIN_LETTERS
        if not is_short and _telling(words) and _GAP not in words:
            yield " ".join(words)


def _letters(word: str) -> int:
    """An ideograph or a syllable counts as two letters."""
    return sum(2 if _SYLLABLE.match(letter) else letter.isalpha() for letter in word)


def _telling(words: Sequence[str]) -> list[int]:
    """Where the words stand that are no function word, number or date."""
    return [
        at
        for at, word in enumerate(words)
        if word not in _EMPTY_WORDS and not _DIGITS.fullmatch(word)
    ]


def _one_word(words: Sequence[str]) -> int | None:
    """The place of the one word that tells, if the name could as well be just that word."""
    if all(map(_IDEOGRAPH.fullmatch, words)):
        return 0 if len(words) < _FEW_IDEOGRAPHS else None
    telling = _telling(words)
    return telling[0] if len(telling) == 1 else None


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text))


def _fold(words: Sequence[str], hangul: Collection[str] = ()) -> list[str]:
    """The same words without case; Hangul without particles if that makes it one of `hangul`."""
    folded = "\n".join(words).casefold().split("\n") if words else []
    if hangul:
        for at, word in enumerate(folded):
            if word not in hangul and _HANGUL.fullmatch(word):
                for cut in range(1, min(_PARTICLE_LENGTH, len(word) - 2) + 1):
                    if word[:-cut] in hangul:
                        folded[at] = word[:-cut]
                        break
    return folded


def _joined(words: Sequence[str]) -> str:
    text = " ".join(words)
    return re.sub(f"(?<=[{_UNSPACED}{_SOUTH_ASIAN}]) (?=[{_UNSPACED}{_SOUTH_ASIAN}])", "", text)

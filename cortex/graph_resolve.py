"""From a link as it is written to the note, heading, block or attachment that it means.

The rules are Obsidian's, with two more that their writers would expect: an alias names its note,
and a Markdown destination is tried from its own folder first, as everywhere outside Obsidian.
In order; the first that finds something decides:

1. A path from "/" names that file alone; "./" and "../" are walked from the note's own folder,
   never above the vault, and name that file alone. A Markdown destination is walked too, but
   when nothing is there it goes on as if it were a wikilink.
2. The whole vault path; else the last parts of a path: below the note's own folder before
   elsewhere, then the shortest path as a string. `.md` may be written, and a dotted tail is only
   an extension when no note has that name. Names spelled exactly so come before names that differ
   in case; composed and decomposed letters are the same.
3. Notes before other files (attachments, notes that the settings leave out), except that a whole
   path names what lies there. Any name before any alias.

What is still tied then is ambiguous: its candidates are listed and none is taken.

A note that Dendron wrote puts the text first, `[[text|a.b.c]]`; there the part after the bar is
tried as well (first when it looks like one of Dendron's dotted names).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .types import Json

Kind = Literal["note", "heading", "block", "attachment", "missing", "ambiguous", "external"]
Fault = Literal["unresolved", "ambiguous", "missing_heading", "missing_block", "missing_attachment"]
Via = Literal["own", "path", "relative", "folder", "name", "alias"]

# Not every ending is one ("Vue.js", "Release 0.14"): only these make a missing target a file.
_ATTACHMENT_ENDINGS = re.compile(
    "3gp|7z|aac|ai|aiff|avi|avif|base|bib|bmp|canvas|csv|djvu|docx?|drawio|eml|epub|excalidraw|"
    "flac|gif|gz|hei[cf]|html?|ico|ics|jpe?g|json|m4[av]|mkv|mov|mp[34]|mpe?g|odp|ods|odt|ogg|ogv|"
    "opus|pdf|png|pptx?|psd|rar|rtf|svg|tar|tiff?|tsv|txt|wav|web[mp]|wm[av]|xls[mx]?|xml|ya?ml|zip"
)
# A Markdown destination is a file name, so there any short ending is one.
_ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,4})$")
_DOTS = re.compile(r"(?:^|/)\.\.?(?:/|$)")
_URL = re.compile(
    r"(?i)[a-z][a-z0-9+.-]*://|//|(?:mailto|tel|sms|data|javascript|file|message|magnet|urn|cid):"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\s)")
_DENDRON_URL = re.compile(r"dendron://[^/#|]+/")
_DENDRON_RANGE = re.compile(r"(?:,\d+)?(?::#.*)?$")  # a note reference from heading to heading
_DENDRON_NAME = re.compile(r"[^\s./]+(?:\.[^\s./]+)+")
# What Obsidian takes for a blank when it compares headings.
_HEADING_BLANKS = re.compile(r"""[!"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+""")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]+")


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a link leads. `path` is set when something in the vault was found."""

    kind: Kind  # external: no link into the vault at all
    path: str | None = None
    heading: tuple[str, ...] = ()  # the linked heading's text, after those of its parents
    block: str | None = None
    line: int | None = None  # of that heading or block
    candidates: tuple[str, ...] = ()  # of an ambiguous link, sorted
    via: Via | None = None
    fault: Fault | None = None  # also of a found note: its heading or block is missing
    target: str = ""  # with a fault: what was looked for, as written
    subpath: str = ""  # and where in it


class Resolver:
    """Finds what links mean among `notes` (records of notes.jsonl) and the other `files`."""

    def __init__(self, notes: Iterable[Mapping[str, Json]], files: Collection[str]) -> None:
        self._records = {str(note["file"]): note for note in notes}
        self._notes = _Paths(self._records)
        self._files = _Paths(path for path in files if path not in self._records)
        self._aliases: dict[str, list[tuple[str, str]]] = {}
        for path, note in self._records.items():
            for alias in names_of(note.get("aliases")):
                self._aliases.setdefault(_fold(alias), []).append((alias, path))
        self._outlines: dict[str, _Outline] = {}

    def resolve(self, source: str, link: Mapping[str, Json]) -> Resolution:
        """What `link` (as in notes.jsonl and chunks.jsonl) means in the note at path `source`."""
        target, subpath = _text(link.get("target")), _text(link.get("subpath"))
        markdown = link.get("style") == "markdown"
        label = _text(link.get("label"))
        if not markdown and (label or subpath or "/" in target) and self._is_dendron(source):
            return self._resolve_dendron(source, target, subpath, label)
        return self._resolve(source, target, subpath, markdown)

    def _resolve(self, source: str, target: str, subpath: str, markdown: bool) -> Resolution:
        if not target:
            return self._own(source, subpath, markdown)
        if _URL.match(target) or (markdown and _SCHEME.match(target)):
            return Resolution("external", target=target)
        found = self._find(source, target, markdown)
        if found.kind == "missing" and "\\" in target:
            found = self._find(source, target.replace("\\", "/"), markdown)
        if subpath:
            found = self._at_subpath(found, subpath)
        return replace(found, target=target, subpath=subpath) if found.fault else found

    def _own(self, source: str, subpath: str, markdown: bool) -> Resolution:
        if not subpath or source not in self._records:
            return Resolution("external")
        found = self._at_subpath(Resolution("note", source, via="own"), subpath)
        # `[top](#top)` may mean an anchor in HTML, which nobody lists.
        if markdown and found.fault:
            return Resolution("external")
        return replace(found, subpath=subpath) if found.fault else found

    def _find(self, source: str, target: str, markdown: bool) -> Resolution:
        folder = source.rpartition("/")[0]
        rooted, is_folder = target.startswith("/"), target.endswith("/")
        path = re.sub("/{2,}", "/", target).strip("/") if "/" in target else target
        dotted = _DOTS.search(path) is not None
        if rooted or dotted:
            walked = _walk("" if rooted else folder, path)
            if walked is None:
                return _missing(path, markdown)
            found = self._whole(walked, "path" if rooted else "relative")
            found = found or self._folder(walked, is_folder or dotted)
        else:
            walked = _walk(folder, path) if markdown else None
            found = self._whole(walked, "relative") if walked else None
            found = found or self._anywhere(path, folder) or self._by_alias(target)
            found = found or self._folder(path, is_folder) or self._folder(walked, is_folder)
        return found or _missing(path, markdown)

    def _whole(self, path: str, via: Via) -> Resolution | None:
        if found := self._notes.whole(path):
            return _chosen("note", found, via)
        if found := self._files.whole(path):
            return _chosen("attachment", found, via)
        return None

    def _anywhere(self, path: str, folder: str) -> Resolution | None:
        found, via = self._notes.nearest(path, folder)
        if via != "path" and (whole := self._files.whole(path)):
            return _chosen("attachment", whole, "path")
        if found:
            return _chosen("note", found, via)
        found, via = self._files.nearest(path, folder)
        return _chosen("attachment", found, via) if found else None

    def _by_alias(self, name: str) -> Resolution | None:
        named = self._aliases.get(_fold(name), [])
        spelled = [path for alias, path in named if _nfc(alias) == _nfc(name)]
        paths = spelled or [path for _, path in named]
        return _chosen("note", tuple(dict.fromkeys(paths)), "alias") if paths else None

    def _folder(self, path: str | None, is_folder: bool) -> Resolution | None:
        """A folder of the vault is there, but it is no note."""
        if not is_folder or path is None:
            return None
        known = self._notes.has_folder(path) or self._files.has_folder(path)
        return Resolution("external") if known else None

    def _at_subpath(self, found: Resolution, subpath: str) -> Resolution:
        if found.kind != "note" or found.path is None:
            return found
        outline = self._outlines.get(found.path)
        if outline is None:
            outline = self._outlines[found.path] = _Outline(self._records[found.path])
        last = subpath.rpartition("#")[2].strip()
        if last.startswith("^"):
            block = outline.block(last[1:])
            if block is None:
                return replace(found, fault="missing_block")
            return replace(found, kind="block", block=block[0], line=block[1])
        heading = outline.heading(subpath)
        if heading is None:
            return replace(found, fault="missing_heading") if subpath.strip("# ") else found
        return replace(found, kind="heading", heading=heading[0], line=heading[1])

    def _is_dendron(self, source: str) -> bool:
        """Did Dendron write this note? It gives each an id and times in milliseconds."""
        record = self._records.get(source)
        meta = record.get("frontmatter") if record else None
        return (
            isinstance(meta, Mapping)
            and isinstance(meta.get("id"), str)
            and "title" in meta
            and any(
                isinstance(meta.get(key), int) and meta[key] > 10**11
                for key in ("created", "updated")
            )
        )

    def _resolve_dendron(self, source: str, target: str, subpath: str, label: str) -> Resolution:
        name, _, anchor = _DENDRON_URL.sub("", label).partition("#")
        swapped = (name.strip(), _DENDRON_RANGE.sub("", anchor).strip())
        plain = (_DENDRON_URL.sub("", target).strip(), _DENDRON_RANGE.sub("", subpath).strip())
        is_name = bool(_DENDRON_URL.match(label) or _DENDRON_NAME.fullmatch(name))
        ways = [swapped, plain] if is_name else [plain, swapped]
        tried = [self._resolve(source, *way, markdown=False) for way in ways if any(way)]
        found = (one for one in tried if one.kind not in ("missing", "external"))
        return next(found, tried[0] if tried else Resolution("external"))


def names_of(value: Json) -> list[str]:
    """The names in a record's list of aliases or tags; what YAML made of a number is its digits."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [
        name
        for item in items
        if isinstance(item, (str, int, float))
        and not isinstance(item, bool)
        and (name := _text(str(item)))
    ]


class _Paths:
    """Paths, looked up whole or by their last parts, with or without `.md`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._whole: dict[str, list[str]] = {}  # folded path -> paths
        self._tails: dict[str, list[str]] = {}  # folded last parts of it -> paths, shortest first
        self._near: dict[str, _Near] = {}
        self._folders: set[str] | None = None
        self._all = sorted(paths, key=lambda path: (len(_nfc(path)), path))
        for path in self._all:
            folded = _fold_path(_stem(path))
            self._whole.setdefault(folded, []).append(path)
            for tail in _tails(folded):
                self._tails.setdefault(tail, []).append(path)

    def whole(self, written: str) -> tuple[str, ...]:
        """The path that `written` is; several if they differ in case alone and none is exact."""
        for name in _spellings(written):
            if paths := self._whole.get(_fold_path(name)):
                return tuple(_spelled(paths, name))
        return ()

    def nearest(self, written: str, folder: str) -> tuple[tuple[str, ...], Via]:
        """The path that ends in `written` and is next to `folder`; several if they are tied."""
        for name in _spellings(written):
            near = self._near.get(name)
            if near is None:
                paths = self._tails.get(_fold_path(name))
                if not paths:
                    continue
                near = self._near[name] = _near(_spelled(paths, name), name)
            if near.whole:
                return near.whole, "path"
            if folder and (below := near.below.get(_fold_path(folder))):
                return tuple(below), "folder"
            return tuple(near.below[""]), "name"
        return (), "name"

    def has_folder(self, path: str) -> bool:
        if self._folders is None:
            self._folders = {_fold_path(f) for p in self._all for f in _ancestors(p)}
        return _fold_path(path) in self._folders


@dataclass(frozen=True, slots=True)
class _Near:
    """What one name may mean, made once a name and not once a link."""

    whole: tuple[str, ...]  # the path that it is, if any
    below: Mapping[str, list[str]]  # folded folder -> the shortest path below it, or those tied


def _near(paths: Sequence[str], name: str) -> _Near:
    whole = tuple(path for path in paths if path.count("/") == name.count("/"))
    below: dict[str, list[str]] = {}
    for path in paths:
        for folder in _ancestors(path):
            best = below.setdefault(_fold_path(folder), [])
            if not best or len(_nfc(best[0])) == len(_nfc(path)):
                best.append(path)
    return _Near(whole, below)


class _Outline:
    """The headings and block ids of one note, for links into it."""

    def __init__(self, note: Mapping[str, Json]) -> None:
        self._headings = [
            ((*map(str, parents), str(text)), int(line))
            for _, text, line, parents in note.get("headings") or ()
        ]
        self._blocks = {
            str(name).lower(): (str(name), int(line))
            for name, line in (note.get("blocks") or {}).items()
        }
        self._by_key: dict[tuple[int, str], list[int]] = {}
        for index, (path, _) in enumerate(self._headings):
            for strictness, key in enumerate(_HEADING_KEYS):
                if text := key(path[-1]):
                    self._by_key.setdefault((strictness, text), []).append(index)

    def block(self, name: str) -> tuple[str, int] | None:
        return self._blocks.get(name.strip().lower())

    def heading(self, subpath: str) -> tuple[tuple[str, ...], int] | None:
        """The first heading that `subpath` names: "B", or "A#B" for a B somewhere under an A."""
        parts = [part for part in subpath.split("#") if part.strip()]
        for strictness, key in enumerate(_HEADING_KEYS):
            # From the chain to one heading: "C# in depth" is written like a chain of two.
            for cut in reversed(range(len(parts))):
                above = _heading_words(" ".join(parts[:cut]))
                for index in self._by_key.get((strictness, key("#".join(parts[cut:]))), ()):
                    path, line = self._headings[index]
                    if _are_above(above, path[:-1]):
                        return path, line
        return None


def _heading_text(text: str) -> str:
    return _fold(text)


def _heading_words(text: str) -> str:
    """As Obsidian compares headings: `AC/DC: supply` is `AC DC supply`."""
    return _fold(_HEADING_BLANKS.sub(" ", text))


def _heading_slug(text: str) -> str:
    """As GitHub and Dendron write anchors: `Cold start` is `cold-start`."""
    return _NOT_IN_SLUG.sub("", _fold(text)).strip().replace(" ", "-")


_HEADING_KEYS: tuple[Callable[[str], str], ...] = (_heading_text, _heading_words, _heading_slug)


def _missing(path: str, markdown: bool) -> Resolution:
    ending = _ENDING.search(path)
    name = ending[1].lower() if ending else "md"
    is_file = name != "md" and (markdown or _ATTACHMENT_ENDINGS.fullmatch(name))
    return Resolution("missing", fault="missing_attachment" if is_file else "unresolved")


def _chosen(kind: Kind, paths: Sequence[str], via: Via) -> Resolution:
    if len(paths) > 1:
        return Resolution("ambiguous", candidates=tuple(sorted(paths)), fault="ambiguous")
    return Resolution(kind, paths[0], via=via)


def _spelled(paths: Sequence[str], name: str) -> list[str]:
    """Those of `paths` written exactly so, byte for byte, else letter for letter; else all."""
    wanted = "/" + name
    exact = [path for path in paths if ("/" + _stem(path)).endswith(wanted)]
    wanted = _nfc(wanted)
    return exact or [p for p in paths if _nfc("/" + _stem(p)).endswith(wanted)] or list(paths)


def _spellings(written: str) -> Iterator[str]:
    """The names without `.md` that `written` may stand for: `a.md` is a, and else `a.md.md`."""
    stem = _stem(written)
    if stem != written:
        yield stem
    yield written


def _walk(folder: str, path: str) -> str | None:
    """`path` from `folder`, its dots resolved; None when it climbs out of the vault."""
    parts = [part for part in folder.split("/") if part]
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _are_above(wanted: str, parents: Iterable[str]) -> bool:
    """Do headings among `parents`, in their order, spell out `wanted`?"""
    for parent in map(_heading_words, parents):
        if parent and f"{wanted} ".startswith(f"{parent} "):
            wanted = wanted[len(parent) + 1 :]
    return not wanted


def _tails(path: str) -> Iterator[str]:
    yield path
    at = path.find("/")
    while at >= 0:
        yield path[at + 1 :]
        at = path.find("/", at + 1)


def _ancestors(path: str) -> Iterator[str]:
    yield ""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _stem(path: str) -> str:
    return path[:-3] if path[-3:].lower() == ".md" and len(path) > 3 else path


def _text(value: Json) -> str:
    return value.replace("\u00a0", " ").strip() if isinstance(value, str) else ""


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _fold_path(text: str) -> str:
    """One form for what differs in case or composition alone."""
    return text.lower() if text.isascii() else _nfc(_nfc(text).casefold())


def _fold(text: str) -> str:
    return " ".join(_fold_path(text).split())

"""The check keys of the case bank: each a function that yields what is wrong.

Values refer to the end of the steps: to the state that the last step left, and to the answers
given since the last step that changed something (`World.era`). Keys with `each_` go over all steps.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
import stat
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from case_bank import (
    CHECKOUT,
    Answer,
    Case,
    Found,
    World,
    files_below,
    plain,
    require_known_form,
    run_fuse,
    strict_json,
    variants,
)
from case_process import lines_of

Faults = Iterator[str]
# Edges that are no link from one note to another as its writer made it.
DERIVED_EDGES = {"mentions", "tagged_with", "contains", "aliases"}
SEARCHABLE_DEPTH = 10  # hits to look through for a text that must be found


# Links and notes


def edge_pairs(world: World) -> list[tuple[str, str]]:
    """(source, target) of each edge between notes, once for each kind of edge there is."""
    pairs = []
    for edge in world.records("graph_edges.jsonl"):
        source, target = edge["source"], edge["target"]
        if edge["type"] in DERIVED_EDGES or not source.startswith("note:"):
            continue
        if target.startswith("note:"):
            pair = (source.removeprefix("note:"), target.removeprefix("note:"))
            if pair[0] != pair[1] or not world.case.check.get("ignore_self_edges"):
                pairs.append((*pair, edge["type"]))
    yield_twice = [pair for pair, count in Counter(pairs).items() if count > 1]
    if yield_twice:
        raise AssertionError(f"edges that stand there twice: {yield_twice}")
    return sorted({pair[:2] for pair in pairs})


def edges(world: World, value: Any) -> Faults:
    yield from differ("edges", edge_pairs(world), sorted(map(tuple, value)))


def edge_count(world: World, value: Any) -> Faults:
    yield from differ("edge count", len(edge_pairs(world)), value)


def unresolved(world: World, value: Any) -> Faults:
    found = {
        (record["source_node"].removeprefix("note:"), record["target_raw"].removesuffix(".md"))
        for record in world.records("graph_broken.jsonl")
        if record["kind"] == "unresolved"
    }
    expected = {(source, target.removesuffix(".md")) for source, target in value}
    yield from differ("unresolved", sorted(found), sorted(expected))


def link_sections(world: World, value: Any) -> Faults:
    found = set()
    for edge in world.records("graph_edges.jsonl"):
        metadata = edge.get("metadata") or {}
        for section in sections_of(metadata):
            note = edge["target"].split(":", 1)[-1].split("#")[0]
            found.add((edge["source"].removeprefix("note:"), note, section))
    for source, target, section in value:
        if (source, target, section) not in found:
            yield f"no link from {source} to the section {section!r} of {target} in {sorted(found)}"


def sections_of(metadata: Mapping[str, Any]) -> Iterator[str]:
    """The headings that an edge's metadata names."""
    for key in ("heading", "headings", "section", "sections", "subpath", "subpaths"):
        value = metadata.get(key)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, list) and one:
                yield one[-1]
            elif isinstance(one, str):
                yield one


def absent_nodes(world: World, value: Any) -> Faults:
    names = set()
    for node in world.records("graph_nodes.jsonl"):
        names |= {str(node.get(key)) for key in ("id", "label", "file", "title")}
        names.add(node["id"].split(":", 1)[-1])
    names |= {note["file"] for note in world.records("notes.jsonl")}
    yield from (f"there is a node {name}" for name in value if name in names)


def note_files(world: World) -> list[str]:
    return sorted(note["file"] for note in world.records("notes.jsonl"))


def notes(world: World, value: Any) -> Faults:
    yield from differ("notes", note_files(world), sorted(value))


def notes_include(world: World, value: Any) -> Faults:
    found = note_files(world)
    yield from (f"{name} is not among the notes {found}" for name in value if name not in found)


def notes_count(world: World, value: Any) -> Faults:
    yield from differ("notes", len(note_files(world)), value)


def note(world: World, name: str) -> dict[str, Any]:
    for record in world.records("notes.jsonl"):
        if record["file"] == name:
            return dict(record)
    raise AssertionError(f"{name} is not in the index")


def metadata(world: World, value: Any) -> Faults:
    for name, expected in value.items():
        places = [("index", note(world, name)["frontmatter"])]
        hits = [hit for answer in final(world, "search") for hit in answer.hits]
        places += [("hit", hit.meta) for hit in hits if hit.note == name]
        for place, found in places:
            if not expected and found:
                yield f"metadata of {name} taken from its body: {found}"
            for key, wanted in expected.items():
                if key not in found or not same_value(found[key], wanted):
                    yield f"{name}: {key} is {found.get(key)!r} in the {place}, not {wanted!r}"


def same_value(one: Any, other: Any) -> bool:
    """Equal, and of the same types throughout: 1 is not 1.0, True or '1'."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    return bool(one == other)


def metadata_not(world: World, value: Any) -> Faults:
    for name, unwanted in value.items():
        found = note(world, name)["frontmatter"]
        for key, wrong in unwanted.items():
            if key in found and found[key] == wrong:
                yield f"{name}: {key} is {found[key]!r}"


def json_metadata(world: World, value: Any) -> Faults:
    for record in world.records("notes.jsonl"):
        yield from not_json(record["frontmatter"], record["file"])
    for answer in world.answers:
        for hit in answer.hits:
            yield from not_json(dict(hit.meta), f"the hit {hit.note}")
    # What the library hands out was not through a JSON file's reader.
    for hit in world.probe(" ".join(note_titles(world)) or "x"):
        yield from not_json(dict(hit.meta), f"the hit {hit.note}")


def not_json(value: Any, where: str) -> Faults:
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                yield f"{where}: the key {key!r} is no text"
            yield from not_json(inner, where)
    elif isinstance(value, list):
        for inner in value:
            yield from not_json(inner, where)
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{where}: {value} is no JSON"
    elif not isinstance(value, str | int | float | bool | None):
        yield f"{where}: {value!r} is no JSON"


def note_titles(world: World) -> list[str]:
    return [record["title"] for record in world.records("notes.jsonl")][:20]


def tags(world: World, value: Any) -> Faults:
    for name, expected in value.items():
        yield from differ(f"tags of {name}", sorted(note(world, name)["tags"]), sorted(expected))


def tags_present(world: World, value: Any) -> Faults:
    for name, expected in value.items():
        found = note(world, name)["tags"]
        yield from (f"{name} has no tag {tag}: {found}" for tag in expected if tag not in found)


def tags_absent(world: World, value: Any) -> Faults:
    for name, unwanted in value.items():
        found = note(world, name)["tags"]
        yield from (f"{name} has the tag {tag}" for tag in unwanted if tag in found)


# Chunks


def chunks_of(world: World) -> list[Mapping[str, Any]]:
    found = world.records("chunks.jsonl")
    assert all(isinstance(record["text"], str) for record in found)
    return found


def chunk_surface(chunk: Mapping[str, Any]) -> str:
    return "\n".join((*chunk["heading_path"], chunk["text"]))


def sections(world: World, value: Any) -> Faults:
    for name, expected in value.items():
        found = [[level, text] for level, text, *_ in note(world, name)["headings"]]
        yield from differ(f"sections of {name}", found, expected)


def section_count(world: World, value: Any) -> Faults:
    for name, expected in value.items():
        yield from differ(f"sections of {name}", len(note(world, name)["headings"]), expected)


def parents(world: World, value: Any) -> Faults:
    for name, expected in value.items():
        for heading, above in expected.items():
            found = [line for line in note(world, name)["headings"] if line[1] == heading]
            if not found:
                yield f"{name} has no heading {heading!r}"
            for *_, path in found:
                yield from differ(f"parents of {heading!r} in {name}", list(path), above)
            for chunk in chunks_of(world):
                path = chunk["heading_path"]
                if chunk["file"] == name and path and path[-1] == heading:
                    yield from differ(f"path of the chunk {chunk['id']}", path[:-1], above)


def lines(world: World, value: Any) -> Faults:
    for name, expected in value.items():
        for heading, first in expected.items():
            found = [line for line in note(world, name)["headings"] if line[1] == heading]
            if [line[2] for line in found] != [first]:
                yield f"{name}: {heading!r} is at {[line[2] for line in found]}, not {first}"
            starts = [
                chunk["start_line"]
                for chunk in chunks_of(world)
                if chunk["file"] == name and chunk["heading_path"][-1:] == [heading]
            ]
            if starts and min(starts) != first:
                yield f"{name}: the chunks of {heading!r} begin at line {min(starts)}, not {first}"


def max_line(world: World, value: Any) -> Faults:
    for name, last in value.items():
        for chunk in chunks_of(world):
            if chunk["file"] == name and chunk["end_line"] > last:
                yield f"{chunk['id']} ends at line {chunk['end_line']}, after {last}"


def chunk_contains(world: World, value: Any) -> Faults:
    for name, heading, text in value if isinstance(value[0], list) else [value]:
        found = [
            chunk
            for chunk in chunks_of(world)
            if chunk["file"] == name
            and (chunk["heading_path"][-1:] == ([heading] if heading else []))
        ]
        if not any(text in chunk["text"] for chunk in found):
            yield f"no chunk of {name} under {heading!r} holds {text!r}: {found}"


def absent_in_chunks(world: World, value: Any) -> Faults:
    for chunk in chunks_of(world):
        shown = "\n".join((chunk["title"], chunk_surface(chunk)))
        yield from (f"{text!r} is in {chunk['id']}" for text in value if text in shown)


def all_words_in_chunks(world: World, value: Any) -> Faults:
    text = "\n".join(map(chunk_surface, chunks_of(world)))
    for word in value:
        # A word, not a part of a longer one; Markdown's own marks may stand beside it.
        if not re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text):
            yield f"{word!r} is in no chunk"


def no_empty_chunks(world: World, value: Any) -> Faults:
    """Nor one of blanks alone that borrows its text, unless it is all that its note has."""
    own = Counter(chunk["file"] for chunk in chunks_of(world))
    for chunk in chunks_of(world):
        text = (world.vault / chunk["file"]).read_bytes().decode("utf-8-sig", "replace")
        blank = not text[chunk["start"] : chunk["end"]].strip() and own[chunk["file"]] > 1
        if blank or not chunk["text"].strip():
            yield f"{chunk['id']} is empty"


def unique_chunk_ids(world: World, value: Any) -> Faults:
    counts = Counter(chunk["id"] for chunk in chunks_of(world))
    yield from (f"the id {id} is used {count} times" for id, count in counts.items() if count > 1)
    if not counts:
        yield "there are no chunks"


def max_chunk_respected(world: World, value: Any) -> Faults:
    from cortex.text import estimate_tokens
    from cortex.vault.chunk import MAX_TOKENS

    for chunk in chunks_of(world):
        counts = (estimate_tokens(chunk["text"]), real_tokens(world, chunk["text"]))
        if max(counts) > MAX_TOKENS:
            yield f"{chunk['id']} has {counts} tokens (estimate, tokenizer), more than {MAX_TOKENS}"


def chunks_fit_model_window(world: World, value: Any) -> Faults:
    """What is longer than the model reads has several vectors, enough to cover all of it."""
    counts = Counter(stored_vectors(world))
    for chunk in chunks_of(world):
        needed = math.ceil(real_tokens(world, chunk_surface(chunk)) / MINILM_WINDOW)
        if counts[chunk["id"]] < needed:
            yield f"{chunk['id']} has {counts[chunk['id']]} vectors, needs {needed}"


# Search


def final(world: World, *verbs: str) -> list[Answer]:
    """The answers given to these in the state that the last step left."""
    found = [answer for answer in world.answers if answer.verb in verbs]
    last = max((answer.era for answer in found), default=0)
    return [answer for answer in found if answer.era == last]


def all_of(world: World, *verbs: str) -> list[Answer]:
    return [answer for answer in world.answers if answer.verb in verbs]


def last_search(world: World) -> Answer:
    """The last search that asks for words the vault holds.

    A search for words that nowhere occur demands no note, so a later one of that kind is not what
    `search_first` and its like mean.
    """
    found = final(world, "search")
    assert found, "the case has no search"
    known = world.vault_words()
    for answer in reversed(found):
        if any(word in known for word in plain(answer.query).split()):
            return answer
    return found[-1]


def noted(hits: Sequence[Found]) -> list[str]:
    """The notes of hits, each once, best first."""
    return list(dict.fromkeys(hit.note for hit in hits))


def told(answer: Answer) -> str:
    return f"{answer.query[:60]!r} gave {noted(answer.hits)} {answer.output[-600:]}"


def search_first(world: World, value: Any) -> Faults:
    answer = last_search(world)
    if noted(answer.hits)[:1] != [value]:
        yield f"first is not {value}: {told(answer)}"


def search_first_set(world: World, value: Any) -> Faults:
    answer = last_search(world)
    if set(noted(answer.hits)[: len(value)]) != set(value):
        yield f"first are not {value}: {told(answer)}"


def search_set(world: World, value: Any) -> Faults:
    yield from not_the_set(final(world, "search")[-1], value)


def not_the_set(answer: Answer, value: Sequence[str]) -> Faults:
    """A hit that only the vectors gave (see by_words) does not count against it."""
    found = noted(answer.hits)
    if missing := set(value) - set(found):
        yield f"not found: {sorted(missing)}; {told(answer)}"
    if extra := set(noted(by_words(answer.hits))) - set(value):
        yield f"found too: {sorted(extra)}; {told(answer)}"


def by_words(hits: Sequence[Found]) -> list[Found]:
    """Hits without those that only the vectors gave.

    Words and vectors retrieve; links then lift what these found. So a hit that the vector channel
    has and the keyword channel has not was given by the vectors alone, whether or not a link moved
    it. One that has neither, for links alone brought it, is no hit of the vectors and stays.
    """
    return [hit for hit in hits if "bm25" in hit.channels or "vector" not in hit.channels]


def search_includes(world: World, value: Any) -> Faults:
    answer = final(world, "search")[-1]
    if missing := set(value) - set(noted(answer.hits)):
        yield f"not found: {sorted(missing)}; {told(answer)}"


def search_excludes(world: World, value: Any) -> Faults:
    for answer in final(world, "search"):
        if wrong := set(value) & set(noted(answer.hits)):
            yield f"found: {sorted(wrong)}; {told(answer)}"


def not_in_first(world: World, value: Any) -> Faults:
    for name, count in value if isinstance(value[0], list) else [value]:
        answer = final(world, "search")[-1]
        if name in noted(answer.hits)[:count]:
            yield f"{name} is among the first {count}: {told(answer)}"


def searchable(world: World, value: Any) -> Faults:
    for text in value:
        hits = world.probe(text, top_k=SEARCHABLE_DEPTH)
        if not any(
            squeezed(text) in squeezed(shown)
            for hit in hits
            for shown in (hit.surface, rendered(hit.surface))
        ):
            yield f"searching {text!r} gave no chunk with it, but {noted(hits)}"


# Where a Markdown link leads, right behind its label.
LED_TO = r"(?:\((?:<[^<>\n]*>|(?:[^()\n]|\([^()\n]*\))*)\)|\[[^\[\]]*\])"
RENDERED = [
    (re.compile(r"<!--.*?-->", re.DOTALL), ""),
    (re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE), ""),
    (re.compile(r"!?\[\[[^\[\]|\n]*\\?\|([^\[\]\n]*)\]\]"), r"\1"),
    (re.compile(r"!?\[\[([^\[\]|\n]*)\]\]"), r"\1"),
    (re.compile(r"!\[([^\[\]]*)\]" + LED_TO), r"\1"),  # first, for it may stand in a link's label
    (re.compile(r"\[([^\[\]]*)\]" + LED_TO), r"\1"),
    (re.compile(r"<([A-Za-z][A-Za-z0-9+.-]*:[^<>\s]*)>"), r"\1"),
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
    (re.compile(r"(?<!\\)(?:\*+|~~|==|`+)"), ""),
    (re.compile(r"(?<![\w\\])_+(?=\S)|(?<=\S)(?<!\\)_+(?!\w)"), ""),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
]  # fmt: skip


def rendered(text: str) -> str:
    """About what a reader of the rendered note sees: no marks of emphasis, links by their label."""
    for pattern, shown in RENDERED:
        text = pattern.sub(shown, text)
    return html.unescape(text)


def squeezed(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


def each_first(world: World, value: Any) -> Faults:
    for answer, expected in aligned(all_of(world, "search"), value):
        if noted(answer.hits)[:1] != [expected]:
            yield f"first is not {expected}: {told(answer)}"


def each_set(world: World, value: Any) -> Faults:
    for answer, expected in aligned(all_of(world, "search"), value):
        yield from not_the_set(answer, expected)


def result_counts(world: World, value: Any) -> Faults:
    for answer, expected in aligned(all_of(world, "search"), value):
        if len(answer.hits) != expected:
            yield f"{len(answer.hits)} hits, not {expected}: {told(answer)}"


def aligned(answers: Sequence[Answer], values: Sequence[Any]) -> Iterator[tuple[Answer, Any]]:
    """Each answer with the value demanded of it; None demands nothing."""
    if len(values) > len(answers):
        raise AssertionError(f"{len(values)} values for {len(answers)} answers")
    for answer, value in zip(answers, values, strict=False):
        if value is not None:
            yield answer, value


def max_results(world: World, value: Any) -> Faults:
    for answer in all_of(world, "search"):
        if len(answer.hits) > value:
            yield f"{len(answer.hits)} hits, more than {value}: {told(answer)}"


def no_duplicate_chunks(world: World, value: Any) -> Faults:
    for answer in all_of(world, "search"):
        counts = Counter(hit.id for hit in answer.hits)
        yield from (f"{id} is listed twice" for id, count in counts.items() if count > 1)


def first_result_contains(world: World, value: Any) -> Faults:
    answer = last_search(world)
    for text in [value] if isinstance(value, str) else value:
        if not answer.hits or squeezed(text) not in squeezed(answer.hits[0].surface):
            yield f"the first hit does not contain {text!r}: {told(answer)}"


def search_found_count(world: World, value: Any) -> Faults:
    answer = last_search(world)
    found = noted(by_words(answer.hits))
    yield from differ(f"notes found by {answer.query!r}", len(found), value)


# Text handed out


def handed_out(world: World) -> list[Answer]:
    """The contexts and read notes of the last state."""
    return final(world, "context", "read_note")


def last_context(world: World) -> Answer:
    found = final(world, "context")
    assert found, "the case has no context"
    return found[-1]


def contains(world: World, value: Any) -> Faults:
    text = "\n".join(answer.text for answer in handed_out(world) or searched(world))
    yield from (f"{one!r} is not in {text[:2000]!r}" for one in value if one not in text)


def searched(world: World) -> list[Answer]:
    """The hits of the last searches as text, for cases that hand out nothing else."""
    answers = []
    for answer in final(world, "search"):
        shown = "\n".join(f"{hit.note}\n{hit.surface}" for hit in answer.hits)
        answers.append(Answer("search", answer.step, text=shown))
    return answers


def absent_text(world: World, value: Any) -> Faults:
    shown = [answer.text + answer.output for answer in handed_out(world)]
    shown += [answer.text for answer in searched(world)]
    queries = [answer.query for answer in final(world, "search")]
    if not any(text in query for text in value for query in queries):
        # Then no echo of the query can be taken for it, and all that a reader sees counts.
        shown += [printed for query in queries for printed in printed_for(world, query)]
    for text in value:
        for one in shown:
            if text in one:
                at = one.index(text)
                yield f"{text!r} was handed out: {one[max(0, at - 200) : at + 200]!r}"


def printed_for(world: World, query: str) -> Iterator[str]:
    """What the commands for people and the context builder make of a query."""
    from case_process import run_main

    if len(query) < 2000:
        yield run_main(["--config", str(world.config), "search", "--", query]).stdout
        yield world.cortex.build_context(query, budget=1000).text


def absent_lines_of(world: World, value: Any) -> Faults:
    secrets = [line for line in lines_of((world.root / value).read_text("utf-8")) if line.strip()]
    assert secrets, f"{value} is empty"
    shown = [answer.text + answer.output for answer in handed_out(world)]
    for number, line in enumerate(secrets, 1):
        for text in shown:
            if line in text or (len(line) >= 12 and line[-12:] in text):
                yield f"line {number} of {value} was handed out"


def exact_count(world: World, value: Any) -> Faults:
    for text, count in counted(value):
        found = sum(answer.text.count(text) for answer in handed_out(world))
        yield from differ(f"count of {text!r}", found, count)


def max_count(world: World, value: Any) -> Faults:
    for text, count in counted(value):
        found = sum(answer.text.count(text) for answer in handed_out(world))
        if found > count:
            yield f"{text!r} stands there {found} times, more than {count}"


def counted(value: Any) -> list[tuple[str, int]]:
    """{text: n}, [text, n] or a list of those."""
    if isinstance(value, dict):
        return list(value.items())
    return [tuple(value)] if isinstance(value[0], str) else [tuple(one) for one in value]


def max_run(world: World, value: Any) -> Faults:
    character, count = value
    for answer in handed_out(world):
        longest = max(map(len, re.findall(f"(?:{re.escape(character)})+", answer.text)), default=0)
        if longest > count * len(character):
            yield f"{longest} {character!r} in a row"


CITED = re.compile(r"^### \[\^(\d+)\] \[.*\]\(<(.*)>\) lines? .*$", re.MULTILINE)


def attribution(world: World, value: Any) -> Faults:
    for text, name in value.items():
        found = [answer for answer in final(world, "context") if text in answer.text]
        if not found:
            yield f"{text!r} is not in the context"
        for answer in found:
            # The citation that stands nearest above the text is the one a reader takes it from.
            above = CITED.findall(answer.text[: answer.text.index(text)])
            cited = [one for one in answer.citations if above and str(one.number) == above[-1][0]]
            if [one.note for one in cited] != [name] or not holds(world, cited[0], text):
                yield f"{text!r} is cited as {above[-1:]} {cited}, not {name}: {answer.text!r}"


def holds(world: World, cited: Any, text: str) -> bool:
    """Whether the lines that a citation names hold a text."""
    file = world.vault / cited.note
    if not file.is_file():
        return False
    named = lines_of(file.read_text("utf-8", "replace"))[cited.start_line - 1 : cited.end_line]
    return visible(text) in visible("\n".join(named))


CITATION_KEYS = {
    "note", "contains_line", "line", "max_line", "min_line", "start_line", "end_line", "heading",
    "heading_path", "contains",
}  # fmt: skip


def citation(world: World, value: Any) -> Faults:
    """Of the citations of the note, and of those the ones that have the line and the text."""
    if isinstance(value, list):
        for one in value:
            yield from citation(world, one)
        return
    wrong = set(value) - CITATION_KEYS
    assert not wrong, f"unknown demands on a citation: {wrong}"
    answer = last_context(world)
    cited = [one for one in answer.citations if one.note == value["note"]]
    if not cited:
        yield f"{value['note']} is not cited: {answer.citations}"
        return
    for line in (value[key] for key in ("contains_line", "line") if key in value):
        cited = [one for one in cited if one.start_line <= line <= one.end_line]
        if not cited:
            yield f"no citation has line {line}: {answer.citations}"
    if "contains" in value:
        cited = [one for one in cited if holds(world, one, value["contains"])]
        if not cited:
            yield f"no cited lines hold {value['contains']!r}: {answer.citations}"
    for one in cited:
        if one.end_line > value.get("max_line", math.inf):
            yield f"{one} goes past line {value['max_line']}"
        if one.start_line < value.get("min_line", 1):
            yield f"{one} begins before line {value['min_line']}"
        if "heading" in value and list(one.heading_path)[-1:] != [value["heading"]]:
            yield f"{one} does not name the section {value['heading']!r}"
        for key in {"start_line", "end_line"} & set(value):
            yield from differ(f"{key} of {one}", getattr(one, key), value[key])
        if "heading_path" in value:
            yield from differ(f"path of {one}", list(one.heading_path), value["heading_path"])
        read = Answer("read_note", {"path": one.note})
        world.ask_by_library(read)
        if read.exit:
            yield f"the cited {one.note} cannot be read: {read.output}"


def citations_consistent(world: World, value: Any) -> Faults:
    """Every citation stands in the text and leads to its note, whose lines stand under it."""
    for answer in final(world, "context"):
        if hands_out_nothing(world, answer):
            continue
        if not answer.citations:
            yield f"no citation at all in {answer.text!r} {answer.output}"
            continue
        headers = list(CITED.finditer(answer.text))
        numbers = [one.number for one in answer.citations]
        yield from differ("numbers of the citations", numbers, list(range(1, len(numbers) + 1)))
        if [int(header[1]) for header in headers] != numbers:
            yield f"the text cites {[header[1] for header in headers]}: {answer.text!r}"
            continue
        ends = [*(header.start() for header in headers[1:]), len(answer.text)]
        for one, header, end in zip(answer.citations, headers, ends, strict=True):
            if unquote(header[2]) != one.note:
                yield f"{one}: the text leads to {header[2]!r}"
            file = world.vault / one.note
            held = lines_of(file.read_text("utf-8", "replace")) if file.is_file() else []
            if not 1 <= one.start_line <= one.end_line <= len(held):
                yield f"{one}: the note has {len(held)} lines"
            own = visible("\n".join(held[one.start_line - 1 : one.end_line]))
            shown = map(shown_of_note, lines_of(answer.text[header.end() : end]))
            if not any(line in own for line in shown if line):
                yield f"{one}: nothing of its lines stands under it: {answer.text!r}"


def shown_of_note(line: str) -> str:
    """A line of a context as its note has it: without the escapes and the mark of a cut."""
    return visible(line.replace("&lt;", "<").replace("[…]", " "))


SMALL_BUDGET = 200  # tokens; one citation's header and notice may take as many


def hands_out_nothing(world: World, answer: Answer) -> bool:
    """Whether a context rightly holds no text of notes: no citation and no notice is due then.

    That is one without a text; one that says that a small budget has no room; and one that says
    that nothing was found for words that stand nowhere in the vault.
    """
    from cortex.context import CLOSE_MARK_RE, NO_ROOM, NOTHING, OPEN_MARK_RE

    if answer.exit or answer.citations:
        return False
    said = re.sub(CLOSE_MARK_RE, "", re.sub(OPEN_MARK_RE, "", answer.text)).strip()
    if said == NO_ROOM:
        budget = answer.step.get("budget_tokens")
        return isinstance(budget, int) and budget < SMALL_BUDGET
    if said == NOTHING:
        known = world.vault_words()
        return not any(word in known for word in plain(answer.query).split())
    return not said and not answer.text


UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\U000e0000-\U000e007f]")


def visible(text: str) -> str:
    """Squeezed, without the characters that no reader sees, which a context leaves out."""
    return squeezed(UNSEEN.sub("", text))


def max_tokens(world: World, value: Any) -> Faults:
    for answer in final(world, "context"):
        yield from over_budget(world, answer, value)


def max_tokens_each(world: World, value: Any) -> Faults:
    for answer, budget in aligned(all_of(world, "context"), value):
        yield from over_budget(world, answer, budget)


def over_budget(world: World, answer: Answer, budget: int) -> Faults:
    slack = world.case.check.get("max_tokens_slack", 0)
    counted = real_tokens(world, answer.text)
    if counted > budget * (1 + slack):
        yield f"{counted} tokens by a tokenizer, budget {budget}"
    if answer.tokens > budget:
        yield f"{answer.tokens} tokens by its own count, budget {budget}"


def single_close_mark(world: World, value: Any) -> Faults:
    from cortex.context import CLOSE_MARK_RE, OPEN_MARK_RE

    for answer in final(world, "context"):
        if not answer.text and hands_out_nothing(world, answer):
            continue
        opens = list(re.finditer(OPEN_MARK_RE, answer.text))
        closes = list(re.finditer(CLOSE_MARK_RE, answer.text))
        if (len(opens), len(closes)) != (1, 1):
            yield f"{len(opens)} opening and {len(closes)} closing marks: {answer.text!r}"
        elif answer.text[closes[0].end() :].strip() or opens[0].end() > closes[0].start():
            yield f"the block does not end with its closing mark: {answer.text!r}"


def balanced_fences(world: World, value: Any) -> Faults:
    for answer in handed_out(world):
        fence = ""
        for line in lines_of(answer.text):
            found = re.match(r" {0,3}(`{3,}|~{3,})(.*)", line)
            if not found:
                continue
            mark, rest = found.groups()
            if not fence and not ("`" in rest and mark[0] == "`"):
                fence = mark
            elif fence and mark.startswith(fence) and not rest.strip():
                fence = ""
        if fence:
            yield f"a fence {fence} is never closed: {answer.text!r}"


def has_data_notice(world: World, value: Any) -> Faults:
    from cortex.context import DATA_NOTICE

    for answer in final(world, "context"):
        if hands_out_nothing(world, answer):
            continue
        first = CITED.search(answer.text)
        trusted = answer.text[: first.start()] if first else ""
        if DATA_NOTICE not in trusted:
            yield f"no notice that this is data, above it: {answer.text!r}"


def max_answer_chars(world: World, value: Any) -> Faults:
    for answer in all_of(world, "search", "context", "read_note"):
        size = max(answer.size, sum(map(len, answer.printed)))
        if answer.verb == "search":
            size = max([size, *map(len, printed_for(world, answer.query))])
        if size > value:
            yield f"{answer.verb} gave {size} characters, more than {value}"


def read_contains(world: World, value: Any) -> Faults:
    values = [value] if isinstance(value, str) else value
    for answer, text in aligned(all_of(world, "read_note"), values):
        if answer.exit or text not in answer.text:
            yield f"reading {answer.step['path']!r} gave {answer.text!r} {answer.output}"


def read_error(world: World, value: Any) -> Faults:
    reads = final(world, "read_note")
    assert reads, "the case reads no note"
    for answer in reads:
        if bool(answer.exit) != bool(value):
            yield f"reading {answer.step['path']!r} gave {answer.text!r} {answer.output}"


# Store and runs


def stored_vectors(world: World) -> list[str]:
    """The chunk id of each record in Chroma, asked in a process of its own."""
    settings = world.settings.get("index", {})
    folder = world.state / settings.get("chroma_path", "chroma")
    collection = settings.get("collection", "cortex-vault")
    done = subprocess.run(
        [sys.executable, "-c", LIST_VECTORS, str(folder), collection],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(f"Chroma cannot be read: {done.stderr[-2000:]}")
    found: list[str] = json.loads(done.stdout)
    return found


LIST_VECTORS = """
import json, sys
import chromadb
from chromadb.config import Settings

client = chromadb.PersistentClient(sys.argv[1], Settings(anonymized_telemetry=False))
collection = client.get_collection(sys.argv[2], embedding_function=None)
found = []
for start in range(0, collection.count(), 5000):
    page = collection.get(limit=5000, offset=start, include=["metadatas"])
    found += [meta["chunk"] for meta in page["metadatas"]]
print(json.dumps(found))
"""


def vectors_equal_chunks(world: World, value: Any) -> Faults:
    """A vector for each chunk and none beside; more than one only for a chunk over the window."""
    chunks = {chunk["id"]: chunk for chunk in chunks_of(world)}
    counts = Counter(stored_vectors(world))
    if wrong := set(chunks) ^ set(counts):
        yield f"{len(counts)} chunks have vectors, {len(chunks)} exist: {sorted(wrong)[:5]}"
    for id, count in counts.items():
        if count > 1 and id in chunks and fits_the_window(world, chunks[id]):
            yield f"{id} has {count} vectors"


MINILM_WINDOW = 254  # tokens of a text, the two special ones apart


def fits_the_window(world: World, chunk: Mapping[str, Any]) -> bool:
    return real_tokens(world, chunk["title"] + chunk_surface(chunk)) <= MINILM_WINDOW


def reembedded_on_second_run(world: World, value: Any) -> Faults:
    runs = all_of(world, "index")
    assert len(runs) > 1, "the case indexes once"
    yield from differ("texts encoded by the second run", runs[1].encoded, value)


def all_reembedded(world: World, value: Any) -> Faults:
    run = all_of(world, "index")[-1]
    texts = {(chunk["title"], chunk_surface(chunk)) for chunk in chunks_of(world)}
    if run.encoded is None or run.encoded < len(texts):
        yield f"{run.encoded} texts were encoded again, of {len(texts)}"


def index_matches_vault(world: World, value: Any) -> Faults:
    there = notes_in(world)
    yield from differ("notes", note_files(world), sorted(there))
    for record in world.records("notes.jsonl"):
        own = there.get(record["file"])
        if own is not None and sha256(own.read_bytes()).hexdigest() != record["sha256"]:
            yield f"{record['file']} is indexed with other text than it has"
    if extra := {chunk["file"] for chunk in chunks_of(world)} - set(there):
        yield f"chunks of notes that are not there: {sorted(extra)}"


NO_NOTE_FOLDERS = {"node_modules", "__pycache__"}


def notes_in(world: World) -> dict[str, Path]:
    """The notes that the vault holds and the settings want: vault-relative name -> file."""
    from cortex.vault.scan import FolderRules

    settings = world.settings["vault"]
    rules = FolderRules(
        tuple(settings.get("include_folders") or ()), tuple(settings.get("exclude_folders") or ())
    )
    root = os.path.realpath(world.vault)
    outside = bool(settings.get("allow_symlinks_outside"))

    def leads_out(path: Path) -> bool:
        return not f"{os.path.realpath(path)}{os.sep}".startswith(root + os.sep)

    there = {}
    for folder, folders, files in os.walk(world.vault, followlinks=outside):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in NO_NOTE_FOLDERS
            and (not os.path.islink(os.path.join(folder, name)) or leads_out(Path(folder, name)))
        ]
        for name in files:
            path = Path(folder, name)
            place = path.relative_to(world.vault).as_posix()
            if name.startswith(".") or not name.casefold().endswith(".md"):
                continue
            followed = path.is_symlink() and outside and leads_out(path)
            status = path.stat() if followed and path.exists() else path.lstat()
            if stat.S_ISREG(status.st_mode) and rules.takes(place):
                there[place] = path
    return there


def strictly_json(world: World, value: Any) -> Faults:
    files = [file for file in files_below(world.state) if file.suffix in {".json", ".jsonl"}]
    assert {file.name for file in files} >= {"chunks.jsonl", "notes.jsonl", "graph_edges.jsonl"}
    for file in files:
        content = file.read_bytes()
        pieces = content.split(b"\n") if file.suffix == ".jsonl" else [content]
        for number, piece in enumerate(pieces, 1):
            try:
                if piece or file.suffix == ".json":
                    strict_json(piece)
            except ValueError as error:
                yield f"{file.relative_to(world.state)}:{number}: {error}"
    for answer in all_of(world, "search"):
        for hit in answer.hits:
            if not math.isfinite(hit.score):
                yield f"{hit.id} has the score {hit.score}"
    for answer in all_of(world, "search"):
        for printed in answer.printed or [printed_as_json(world, answer.query)]:
            strict_json(printed)


def printed_as_json(world: World, query: str) -> str:
    from case_process import run_main

    run = run_main(["--config", str(world.config), "search", "--json", "--", query])
    if run.exit:
        raise AssertionError(f"search --json failed: {run.stderr}")
    return run.stdout


def stable_over_runs(world: World, value: Any) -> Faults:
    """Index from nothing, search again, and get the same order."""
    for number in range(1, value):
        again = world.rebuilt(number)
        for answer in final(world, "search"):
            repeated = Answer(answer.verb, answer.step)
            again.ask_by_library(repeated)
            yield from differ(
                f"order in run {number + 1}",
                [hit.id for hit in repeated.hits],
                [hit.id for hit in answer.hits],
            )


def exit_code(world: World, value: Any) -> Faults:
    for answer in world.answers:
        if answer.exit != value:
            yield f"{answer.verb} ended with {answer.exit}, not {value}: {answer.output[-1500:]}"


def exit_nonzero(world: World, value: Any) -> Faults:
    if bool(world.answers[-1].exit) != bool(value):
        yield f"{world.answers[-1].verb} ended with {world.answers[-1].exit}"


def terminates(world: World, value: Any) -> Faults:
    assert world.case.seconds, "the case sets no limit of seconds"
    yield from within_limits(world)


def within_limits(world: World) -> Faults:
    """The limits of a case hold whether a check names them or not."""
    total = sum(answer.seconds for answer in world.answers)
    if any(answer.timed_out for answer in world.answers):
        yield f"a step did not end within {world.case.seconds} seconds"
    elif world.case.seconds is not None and total > world.case.seconds:
        yield f"the steps took {total:.1f} seconds, the limit is {world.case.seconds:g}"
    peak = max((answer.peak_mib for answer in world.answers), default=0)
    if world.case.memory_mib is not None and peak > world.case.memory_mib:
        yield f"a step took {peak:.0f} MiB, the limit is {world.case.memory_mib}"


def no_error_text(world: World, value: Any) -> Faults:
    for answer in world.answers:
        for text in value:
            if text in answer.output:
                yield f"{answer.verb} said {text!r}: {answer.output[-1500:]}"


def warns_about(world: World, value: Any) -> Faults:
    said = "\n".join(answer.output for answer in all_of(world, "index"))
    yield from (f"no warning names {name}: {said!r}" for name in value if name not in said)


def no_network(world: World, value: Any) -> Faults:
    assert world.case.network, "the case does not watch the network"
    yield from (f"network: {tried}" for tried in world.network_tries())


def no_file_named(world: World, value: Any) -> Faults:
    for name in [value] if isinstance(value, str) else value:
        for folder in (world.base, CHECKOUT):
            depth = "**/" if folder == world.base else ""
            yield from (f"there is {path}" for path in folder.glob(f"{depth}{name}"))


def vault_unchanged(world: World, value: Any) -> Faults:
    yield from world.vault_changes


def stdout_is_json(world: World, value: Any) -> Faults:
    for answer in all_of(world, "search"):
        printed = answer.printed or [printed_as_json(world, answer.query)]
        for one in printed:
            try:
                strict_json(one)
            except ValueError as error:
                yield f"stdout is no JSON ({error}): {one[:300]!r}"


def absent_in_written_files(world: World, value: Any) -> Faults:
    for file in files_below(world.state):
        content = file.read_bytes()
        yield from (f"{text!r} is in {file.name}" for text in value if text.encode() in content)


# Tokens


@cache
def tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    found = sorted(folder.rglob("tokenizer.json"))
    assert found, f"no tokenizer.json below {folder}"
    real = Tokenizer.from_file(str(found[0]))
    real.no_truncation()
    real.no_padding()
    return real


def real_tokens(world: World, text: str) -> int:
    """Tokens of a text by the default model's own tokenizer."""
    return len(tokenizer(world.models).encode(text, add_special_tokens=False).ids)


# Fusion


def fusion_faults(case: Case) -> Faults:
    """The checks of `unit: fuse`."""
    fused = run_fuse(case)
    order, scores = [key for key, _ in fused], dict(fused)
    for key, value in case.check.items():
        if key == "fused_first" and order[:1] != [value]:
            yield f"first is not {value}: {fused}"
        elif key == "fused_last" and order[-1:] != [value]:
            yield f"last is not {value}: {fused}"
        elif key == "fused_scores":
            for name, score in value.items():
                # The bank writes six decimals.
                if name not in scores or abs(scores[name] - score) > 0.6e-6:
                    yield f"{name} has {scores.get(name)}, not {score}"
        elif key == "stable_over_runs":
            for _ in range(value):
                yield from differ("order", [name for name, _ in run_fuse(case)], order)
        elif key not in FUSION_KEYS:
            raise AssertionError(f"{key} says nothing of a fusion")
    yield from differ("order of the scores", order, sorted(order, key=lambda name: -scores[name]))


FUSION_KEYS = {"fused_first", "fused_last", "fused_scores", "stable_over_runs"}


def differ(what: str, found: object, expected: object) -> Faults:
    if found != expected:
        yield f"{what}: {found!r}, not {expected!r}"


def nothing_more(world: World, value: Any) -> Faults:
    """For keys that only change what another key means."""
    yield from ()


def server_alive(world: World, value: Any) -> Faults:
    """Whether each call of a tool got an answer, and the next one gets one too."""
    assert world.case.input.get("tool_calls"), "the case calls no tool"
    after = world.call("vault_search", {"query": "is anybody there"})
    if after.exit or after.crashed:
        yield f"the next call failed: {after.output}"


def hooks_only(world: World, value: Any) -> Faults:
    yield "this check needs a hook or a tool call, and the case has none"


CHECKS: dict[str, Callable[[World, Any], Faults]] = {
    "edges": edges,
    "edge_count": edge_count,
    "unresolved": unresolved,
    "link_sections": link_sections,
    "ignore_self_edges": nothing_more,
    "absent_nodes": absent_nodes,
    "notes": notes,
    "notes_include": notes_include,
    "notes_count": notes_count,
    "metadata": metadata,
    "metadata_not": metadata_not,
    "json_metadata": json_metadata,
    "tags": tags,
    "tags_present": tags_present,
    "tags_absent": tags_absent,
    "sections": sections,
    "section_count": section_count,
    "parents": parents,
    "lines": lines,
    "max_line": max_line,
    "chunk_contains": chunk_contains,
    "absent_in_chunks": absent_in_chunks,
    "all_words_in_chunks": all_words_in_chunks,
    "no_empty_chunks": no_empty_chunks,
    "unique_chunk_ids": unique_chunk_ids,
    "max_chunk_respected": max_chunk_respected,
    "chunks_fit_model_window": chunks_fit_model_window,
    "search_first": search_first,
    "search_first_set": search_first_set,
    "search_set": search_set,
    "search_includes": search_includes,
    "search_excludes": search_excludes,
    "not_in_first": not_in_first,
    "searchable": searchable,
    "each_first": each_first,
    "each_set": each_set,
    "result_counts": result_counts,
    "max_results": max_results,
    "no_duplicate_chunks": no_duplicate_chunks,
    "first_result_contains": first_result_contains,
    "search_found_count": search_found_count,
    "fused_first": hooks_only,
    "fused_last": hooks_only,
    "fused_scores": hooks_only,
    "contains": contains,
    "absent_text": absent_text,
    "absent_lines_of": absent_lines_of,
    "exact_count": exact_count,
    "max_count": max_count,
    "max_run": max_run,
    "attribution": attribution,
    "citation": citation,
    "citations_consistent": citations_consistent,
    "max_tokens": max_tokens,
    "max_tokens_slack": nothing_more,
    "max_tokens_each": max_tokens_each,
    "single_close_mark": single_close_mark,
    "balanced_fences": balanced_fences,
    "has_data_notice": has_data_notice,
    "max_answer_chars": max_answer_chars,
    "read_contains": read_contains,
    "read_error": read_error,
    "injected": hooks_only,
    "not_gated": hooks_only,
    "exact_count_over_calls": hooks_only,
    "absent_in_written_files": absent_in_written_files,
    "vectors_equal_chunks": vectors_equal_chunks,
    "reembedded_on_second_run": reembedded_on_second_run,
    "all_reembedded": all_reembedded,
    "index_matches_vault": index_matches_vault,
    "strict_json": strictly_json,
    "stable_over_runs": stable_over_runs,
    "exit": exit_code,
    "exit_nonzero": exit_nonzero,
    "terminates": terminates,
    "no_error_text": no_error_text,
    "warns_about": warns_about,
    "no_network": no_network,
    "no_file_named": no_file_named,
    "vault_unchanged": vault_unchanged,
    "stdout_is_json": stdout_is_json,
    "server_alive": server_alive,
}


def run_case(case: Case, tmp: Path, models: Path) -> list[str]:
    """All faults of a case, in each way to take its steps."""
    require_known_form(case, set(CHECKS))
    if "unit" in case.input:
        return list(fusion_faults(case))
    faults: list[str] = []
    kills = []
    ways = variants(case)
    for number, variant in enumerate(ways):
        world = World(case, tmp / f"world-{number}", models, variant)
        world.build()
        world.run()
        kills.append(world.kills)
        told = f"{variant}: " if len(ways) > 1 else ""
        faults += [told + fault for fault in faults_of(world)]
    if case.kills and not any(kills):
        faults.append("no run was killed: each had ended before")
    return faults


def faults_of(world: World) -> list[str]:
    """All that is wrong in a world whose steps were taken."""
    faults = [
        f"{answer.verb} raised: {answer.output[-3000:]}"
        for answer in world.answers
        if answer.crashed
    ]
    faults += world.faults
    faults += within_limits(world)
    for key, value in world.case.check.items():
        try:
            faults += [f"{key}: {fault}" for fault in CHECKS[key](world, value)]
        except (AssertionError, KeyError, ValueError, OSError) as error:
            faults.append(f"{key}: {type(error).__name__}: {error}")
    return faults

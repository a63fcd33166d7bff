"""What a link means: as Obsidian resolves it, among the notes and files of a vault."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

import pytest

from cortex.graph_resolve import Resolution, Resolver


def vault(*paths: str, files: tuple[str, ...] = (), **more: dict[str, Any]) -> Resolver:
    """A resolver over notes of these paths; `more` is what their records hold, by file name."""
    notes = [{"file": path, **more.get(path.rpartition("/")[2][:-3], {})} for path in paths]
    return Resolver(notes, files)


def wiki(inner: str) -> dict[str, Any]:
    """`[[inner]]` as a link record."""
    target, _, label = inner.partition("|")
    target, _, subpath = target.partition("#")
    link = {"target": target, "kind": "link", "style": "wiki", "line": 1}
    return link | ({"subpath": subpath} if subpath else {}) | ({"label": label} if label else {})


def markdown(destination: str) -> dict[str, Any]:
    """`[..](destination)` as a link record; percent-decoded already."""
    target, _, subpath = destination.partition("#")
    link = {"target": target, "kind": "link", "style": "markdown", "line": 1}
    return link | ({"subpath": subpath} if subpath else {})


def led_to(found: Resolution) -> tuple[str, Any]:
    return found.kind, found.candidates or found.path or found.fault


# Which of several notes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "inner", "path", "via"),
    [
        ("team/Standup.md", "Inbox", "Inbox.md", "path"),  # the whole path, over the own folder
        ("team/Standup.md", "team/Inbox", "team/Inbox.md", "path"),
        ("team/Standup.md", "/Inbox", "Inbox.md", "path"),
        ("team/Standup.md", "Inbox.md", "Inbox.md", "path"),
        ("team/Standup.md", "Plan", "team/Plan.md", "folder"),  # the own folder, over the shortest
        ("team/a/b/Deep.md", "Plan", "p/Plan.md", "name"),  # nothing below the own folder
        ("team.md", "Plan", "p/Plan.md", "name"),  # the root's own folder is the vault
        ("Top.md", "Tide", "x/y/Tide.md", "name"),  # 11 characters, over fewer folders
        ("Top.md", "y/Tide", "x/y/Tide.md", "name"),
        ("Top.md", "Y/TIDE.MD", "x/y/Tide.md", "name"),
        ("x/Top.md", "Chart", "x/a/b/Chart.md", "folder"),  # below the own folder, over shorter
        ("y/Top.md", "Chart", "z/Chart.md", "name"),
    ],
)
def test_of_several_notes_obsidians_order_picks_one(source, inner, path, via):
    resolver = vault(
        "Inbox.md",
        "team/Inbox.md",
        "team/Plan.md",
        "p/Plan.md",
        "archive-of-old-things/Tide.md",
        "x/y/Tide.md",
        "x/a/b/Chart.md",
        "z/Chart.md",
    )
    found = resolver.resolve(source, wiki(inner))
    assert (found.kind, found.path, found.via) == ("note", path, via)


def test_notes_that_are_tied_after_all_rules_are_listed_and_none_is_taken():
    resolver = vault("b/Spec.md", "a/Spec.md", "far/away/Spec.md")
    found = resolver.resolve("Top.md", wiki("Spec"))
    assert found.kind == found.fault == "ambiguous"
    assert found.candidates == ("a/Spec.md", "b/Spec.md")
    assert found.path is None
    assert led_to(resolver.resolve("b/Top.md", wiki("Spec"))) == ("note", "b/Spec.md")


def test_the_end_of_a_folder_name_is_no_folder():
    resolver = vault("work2025/Budget.md", "team-b/Inbox.md", "other/team/Inbox.md")
    assert led_to(resolver.resolve("Top.md", wiki("2025/Budget"))) == ("missing", "unresolved")
    assert led_to(resolver.resolve("team/x.md", wiki("Inbox"))) == ("note", "team-b/Inbox.md")


# Names --------------------------------------------------------------------------------------


def test_case_matters_only_when_the_exact_spelling_is_there():
    resolver = vault("x/polish.md", "y/Polish.md", "Weather Log.md")
    assert led_to(resolver.resolve("src.md", wiki("polish"))) == ("note", "x/polish.md")
    assert led_to(resolver.resolve("src.md", wiki("Polish"))) == ("note", "y/Polish.md")
    assert led_to(resolver.resolve("src.md", wiki("POLISH"))) == (
        "ambiguous",
        ("x/polish.md", "y/Polish.md"),
    )
    assert led_to(resolver.resolve("src.md", wiki("weather LOG"))) == ("note", "Weather Log.md")
    assert led_to(resolver.resolve("src.md", wiki("weather log.MD"))) == ("note", "Weather Log.md")
    assert led_to(vault("Ext.MD").resolve("src.md", wiki("ext"))) == ("note", "Ext.MD")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_are_one(form):
    stored = unicodedata.normalize("NFD", "Café Süd.md")
    typed = unicodedata.normalize(form, "café süd")
    assert led_to(vault(stored).resolve("Tour.md", wiki(typed))) == ("note", stored)


def test_letters_whose_case_changes_their_number_still_match():
    assert led_to(vault("Straße.md").resolve("a.md", wiki("STRASSE"))) == ("note", "Straße.md")


@pytest.mark.parametrize(
    ("inner", "path"),
    [
        ("Release 0.14", "Release 0.14.md"),
        ("setup.sh", "setup.sh.md"),
        ("Vue.js", "Vue.js.md"),
        ("Vue.js.md", "Vue.js.md"),
        ("Array a]0 notes", "Array a]0 notes.md"),
        ("report.pdf", "report.pdf.md"),
    ],
)
def test_a_dotted_tail_is_no_extension_when_a_note_has_that_name(inner, path):
    resolver = vault("Release 0.14.md", "setup.sh.md", "Vue.js.md", "Array a]0 notes.md", path)
    assert led_to(resolver.resolve("S.md", wiki(inner))) == ("note", path)


def test_a_note_called_md_is_found_after_the_note_without_it():
    assert led_to(vault("a.md.md").resolve("s.md", wiki("a.md"))) == ("note", "a.md.md")
    assert led_to(vault("a.md.md", "a.md").resolve("s.md", wiki("a.md"))) == ("note", "a.md")


def test_a_blank_that_does_not_break_is_a_blank():
    assert led_to(vault("Old Mill.md").resolve("s.md", wiki(" Old\u00a0Mill "))) == (
        "note",
        "Old Mill.md",
    )


# Aliases ------------------------------------------------------------------------------------


def test_an_alias_names_its_note_and_any_file_name_beats_it():
    resolver = vault(
        "sub/Artificial turf.md",
        "Ford.md",
        **{"Artificial turf": {"aliases": ["AT", "ford", 1984, None, True, ["x"]]}},
    )
    assert led_to(resolver.resolve("s.md", wiki("at"))) == ("note", "sub/Artificial turf.md")
    assert resolver.resolve("s.md", wiki("AT")).via == "alias"
    assert led_to(resolver.resolve("s.md", wiki("1984"))) == ("note", "sub/Artificial turf.md")
    assert led_to(resolver.resolve("s.md", wiki("FORD"))) == ("note", "Ford.md")


def test_an_alias_of_several_notes_is_ambiguous_unless_one_is_spelled_so():
    resolver = vault(
        "a.md",
        "longer/b.md",
        "c.md",
        a={"aliases": ["Mill", "Go"]},
        b={"aliases": ["mill"]},
        c={"aliases": ["MILL"]},
    )
    assert led_to(resolver.resolve("s.md", wiki("mill"))) == ("note", "longer/b.md")
    assert led_to(resolver.resolve("s.md", wiki("mIll"))) == (
        "ambiguous",
        ("a.md", "c.md", "longer/b.md"),
    )


# Markdown destinations ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("destination", "path"),
    [
        ("Bolt (M8).md", "a/b/Bolt (M8).md"),  # the own folder, over the root
        ("./Bolt (M8).md", "a/b/Bolt (M8).md"),
        ("../../Bolt (M8).md", "Bolt (M8).md"),
        ("/Bolt (M8).md", "Bolt (M8).md"),
        ("../../c/./x/../Nut.md", "c/Nut.md"),
        ("c/Nut.md", "c/Nut.md"),  # nothing at a/b/c: as a wikilink
        ("Nut", "c/Nut.md"),
        ("heat pump.md", "house/Heat pump.md"),
    ],
)
def test_a_markdown_destination_is_walked_from_the_own_folder_then_looked_for(destination, path):
    resolver = vault("Bolt (M8).md", "a/b/Bolt (M8).md", "c/Nut.md", "house/Heat pump.md")
    assert led_to(resolver.resolve("a/b/src.md", markdown(destination))) == ("note", path)


@pytest.mark.parametrize("destination", ["../../../c/Nut.md", "../c/Nut.md", "./Nut.md", "/Nut.md"])
def test_a_walked_path_names_one_place_and_never_climbs_out_of_the_vault(destination):
    found = vault("c/Nut.md").resolve("a/b/src.md", markdown(destination))
    assert led_to(found) == ("missing", "unresolved")


def test_dots_are_walked_in_a_wikilink_too():
    resolver = vault("a/Nut.md", "c/Nut.md")
    assert led_to(resolver.resolve("a/src.md", wiki("../c/Nut"))) == ("note", "c/Nut.md")


@pytest.mark.parametrize(
    "link",
    [
        wiki("https://example.org/Nut"),
        wiki("mailto:a@example.org"),
        markdown("https://example.org/Nut.md"),
        markdown("zotero:select"),
        markdown("//example.org/Nut.md"),
        markdown("#top"),
        markdown("c/"),
        markdown("../"),
        wiki(""),
        wiki("  "),
        {},
        {"target": None, "subpath": 3},
        {"target": ["Nut"], "style": 7},
    ],
)
def test_what_is_no_link_into_the_vault_is_neither_found_nor_missing(link):
    found = vault("c/Nut.md", "a/src.md").resolve("a/src.md", link)
    assert led_to(found) == ("external", None)


def test_a_colon_in_a_name_makes_no_address():
    resolver = vault("Meeting: plan.md", "re:invent.md")
    assert led_to(resolver.resolve("s.md", wiki("Meeting: plan"))) == ("note", "Meeting: plan.md")
    assert led_to(resolver.resolve("s.md", markdown("Meeting: plan.md"))) == (
        "note",
        "Meeting: plan.md",
    )
    assert led_to(resolver.resolve("s.md", wiki("re:invent"))) == ("note", "re:invent.md")


# Attachments --------------------------------------------------------------------------------


def test_other_files_are_found_with_their_extension_and_no_note_is_missed_for_them():
    resolver = vault("s.md", files=("files/plan.v2.pdf", "data.csv", "img/cat.png"))
    for link, path in (
        (wiki("plan.v2.pdf#page=3"), "files/plan.v2.pdf"),
        (wiki("data.csv"), "data.csv"),
        (wiki("DATA.CSV"), "data.csv"),
        (markdown("img/cat.png"), "img/cat.png"),
        (markdown("cat.png"), "img/cat.png"),
    ):
        assert led_to(resolver.resolve("s.md", link)) == ("attachment", path)


def test_a_missing_file_is_a_missing_attachment_and_a_dotted_name_a_missing_note():
    resolver = vault("s.md")
    assert resolver.resolve("s.md", wiki("gone.png")).fault == "missing_attachment"
    assert resolver.resolve("s.md", wiki("gone.PDF#page=2")).fault == "missing_attachment"
    assert resolver.resolve("s.md", markdown("lib/gone.py")).fault == "missing_attachment"
    assert resolver.resolve("s.md", markdown("gone.md")).fault == "unresolved"
    assert resolver.resolve("s.md", wiki("Vue.js")).fault == "unresolved"
    assert resolver.resolve("s.md", wiki("Release 0.14")).fault == "unresolved"


def test_a_note_that_the_settings_leave_out_is_there_but_an_indexed_one_comes_first():
    resolver = vault("deep/Temp/x.md", files=("Temp/x.md", "Temp/y.md"))
    assert led_to(resolver.resolve("s.md", wiki("x"))) == ("note", "deep/Temp/x.md")
    assert led_to(resolver.resolve("s.md", wiki("Temp/x"))) == ("attachment", "Temp/x.md")
    assert led_to(resolver.resolve("s.md", wiki("y"))) == ("attachment", "Temp/y.md")


# Headings and blocks ------------------------------------------------------------------------

GUIDE = {
    "headings": [
        [1, "Oven", 1, []],
        [2, "Care", 3, ["Oven"]],
        [1, "Hob", 7, []],
        [2, "Care", 9, ["Hob"]],
        [1, "AC/DC: supply", 13, []],
        [1, "C", 15, []],
        [1, "C# in depth", 17, []],
        [2, "Cold  start", 19, ["C# in depth"]],
        [3, "How to?", 21, ["C# in depth", "Cold  start"]],
        [1, "Déjà vu", 23, []],
    ],
    "blocks": {"k3p9zz": 11},
}


@pytest.mark.parametrize(
    ("subpath", "line"),
    [
        ("Care", 3),  # the first of that name
        ("care", 3),
        ("Hob#Care", 9),
        ("hob#care", 9),
        ("AC DC supply", 13),
        ("AC/DC: supply", 13),
        ("C", 15),
        ("C# in depth", 17),
        ("C in depth", 17),
        ("Cold start", 19),
        ("cold-start", 19),  # as GitHub and Dendron write anchors
        ("C# in depth#How to", 21),  # a heading between may be left out
        (unicodedata.normalize("NFD", "déjà vu"), 23),
    ],
)
def test_a_heading_is_found_as_obsidian_compares_them(subpath, line):
    found = vault("Guide.md", Guide=GUIDE).resolve("Use.md", wiki(f"Guide#{subpath}"))
    assert (found.kind, found.path, found.line, found.fault) == ("heading", "Guide.md", line, None)


def test_a_found_heading_is_named_with_those_above_it():
    found = vault("Guide.md", Guide=GUIDE).resolve("Use.md", wiki("Guide#Hob#Care"))
    assert found.heading == ("Hob", "Care")


@pytest.mark.parametrize("subpath", ["Sink", "Hob#Sink", "Care#Hob", "Oven#Hob", "???"])
def test_a_missing_heading_still_leads_to_the_note(subpath):
    found = vault("Guide.md", Guide=GUIDE).resolve("Use.md", wiki(f"Guide#{subpath}"))
    assert (found.kind, found.path, found.fault) == ("note", "Guide.md", "missing_heading")


def test_a_block_is_found_by_its_id():
    resolver = vault("Guide.md", Guide=GUIDE)
    found = resolver.resolve("Use.md", wiki("Guide#^K3P9ZZ"))
    assert (found.kind, found.path, found.block, found.line) == ("block", "Guide.md", "k3p9zz", 11)
    missing = resolver.resolve("Use.md", wiki("Guide#^nope"))
    assert (missing.kind, missing.path, missing.fault) == ("note", "Guide.md", "missing_block")


def test_a_link_without_a_target_stays_in_its_note():
    resolver = vault("Guide.md", Guide=GUIDE)
    found = resolver.resolve("Guide.md", wiki("#Hob"))
    assert (found.kind, found.path, found.via, found.line) == ("heading", "Guide.md", "own", 7)
    assert resolver.resolve("Guide.md", wiki("#Sink")).fault == "missing_heading"


def test_headings_and_blocks_of_ambiguous_and_missing_notes_are_not_looked_for():
    resolver = vault("a/Spec.md", "b/Spec.md")
    assert resolver.resolve("s.md", wiki("Spec#Sink")).fault == "ambiguous"
    assert resolver.resolve("s.md", wiki("Gone#Sink")).fault == "unresolved"


# Dendron ------------------------------------------------------------------------------------

DENDRON = {"frontmatter": {"id": "ckk", "title": "T", "created": 1655138994644}}
TOPIC = {"headings": [[2, "Cold start", 5, []]]}


@pytest.mark.parametrize(
    "inner",
    [
        "how it starts|dendron.topic",
        "dendron.topic",
        "Meet|dendron.topic",  # though Meet is a note: a dotted name is the target
        "starts|dendron://dendron.site/dendron.topic#cold-start",
        "dendron.topic#cold-start,1:#*",
    ],
)
def test_a_dendron_note_may_put_the_text_before_the_bar(inner):
    resolver = vault(
        "src.md", "dendron.topic.md", "Meet.md", **{"src": DENDRON, "dendron.topic": TOPIC}
    )
    found = resolver.resolve("src.md", wiki(inner))
    assert (found.path, found.fault) == ("dendron.topic.md", None)
    assert found.kind == ("heading" if "#" in inner else "note")


def test_elsewhere_what_stands_after_the_bar_is_text():
    resolver = vault("src.md", "Home.md")
    assert led_to(resolver.resolve("src.md", wiki("Not written|Home"))) == ("missing", "unresolved")


# Scale --------------------------------------------------------------------------------------


def test_thousands_of_notes_with_one_name_cost_no_more_than_as_many_names():
    paths = [f"p{i}/sub/README.md" for i in range(4000)] + [f"q{i}/x.md" for i in range(4000)]
    resolver = vault(*paths)
    started = time.process_time()
    found = [resolver.resolve(f"p{i}/other.md", wiki("README")).path for i in range(4000)]
    tied = [resolver.resolve(f"q{i}/x.md", wiki("README")).candidates for i in range(4000)]
    assert found == paths[:4000]
    assert set(tied) == {tuple(f"p{i}/sub/README.md" for i in range(10))}
    assert time.process_time() - started < 5

"""The YAML header of a note: where it ends, what its values mean, what is wrong with it."""

from __future__ import annotations

import datetime as dt
import json
import time

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.types import Json, Link
from cortex.vault.frontmatter import (
    HeaderHandler,
    aliases_of,
    confidence_of,
    date_of,
    day_of,
    importance_of,
    property_links,
    split,
    tags_of,
    title_of,
    updated_of,
)


def values(yaml: str) -> dict[str, Json]:
    return split(f"---\n{yaml}\n---\nbody").values


def problems(text: str) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in split(text).problems]


# Where the header ends


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("close", ["---", "...", "---  \t"])
def test_a_header_ends_at_its_closing_line(end: str, close: str) -> None:
    header = split(end.join(("---", "status: open", close, "", "first", "---", "a: b", "---")))
    assert header.values == {"status": "open"}
    text = end.join(("---", "status: open", close, "", "first", "---", "a: b", "---"))
    assert text[header.body_start :] == end.join(("", "first", "---", "a: b", "---"))
    assert header.key_lines == {"status": 2}


def test_a_header_may_end_the_file_without_a_line_end() -> None:
    header = split("---\nrating: 5\n---")
    assert (header.values, header.body_start) == ({"rating": 5}, 17)


@pytest.mark.parametrize("text", ["---\n---\nbody", "---\n\n---\nbody", "--- \n  \n---\nbody"])
def test_an_empty_header_is_a_header(text: str) -> None:
    header = split(text)
    assert (header.values, text[header.body_start :], header.problems) == ({}, "body", ())


def test_dashes_inside_a_value_close_nothing() -> None:
    text = "---\ntitle: a --- b\nnote: |\n  one\n  --- not the end\n  ---\nkind: map\n---\nBody.\n"
    header = split(text)
    assert header.values == {
        "title": "a --- b",
        "note": "one\n--- not the end\n---\n",
        "kind": "map",
    }
    assert text[header.body_start :] == "Body.\n"


@pytest.mark.parametrize(
    "text",
    [
        "## Soup\n\nleek\n\n---\n\n## Fish\n\n---\n",
        "---\n# Heading\n\nSome prose: it has a colon\n---\n\nTail.\n",
        "---\n# Only a heading\n---\nText\n",
        "---\nPlain prose between two rules.\n---\n",
        "---\nSome text here\nmore text: and a colon\n---\n",
        "---\n- a list\n- of things\n---\n",
        "---\n{{title}}\n---\nbody",
        "---\n> a quote: with [ in it\n---\n",
        "----\ntitle: x\n----\n",
        " ---\ntitle: x\n---\n",
        "\n---\ntitle: x\n---\n",
        "---\nnever closed",
        "---",
        "",
    ],
)
def test_what_is_no_mapping_at_the_start_is_body(text: str) -> None:
    header = split(text)
    assert (header.values, header.body_start, header.problems) == ({}, 0, ())


def test_a_header_that_is_not_closed_is_reported_and_stays_body() -> None:
    text = "---\ntitle: x\ntags: [a]\n\nBody.\n"
    assert split(text).body_start == 0
    assert problems(text) == [("frontmatter_not_closed", 1)]


def test_python_frontmatter_reads_a_note_with_this_handler() -> None:
    post = frontmatter.loads("---\nzip: 00770\n---\nBody.", handler=HeaderHandler())
    assert (post.metadata, post.content) == ({"zip": "00770"}, "Body.")


# What values mean


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("4", 4),
        ("-7", -7),
        ("0", 0),
        ("1.5", 1.5),
        ("4.0", 4.0),
        ("1e-07", 1e-07),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        *((text, text) for text in (
            "00770", "1.10", "1e5", "1_000", "+5", ".5", "5.", "-0", "0x1F", "0o17", "0b1",
            "9" * 200, "10:30", "1:30:15", "2026-02-03", "2026-02-03T08:15:00",
            "2026-02-03 08:15:00+02:00", "2026-13-45", "0000-00-00", ".inf", "-.inf", ".nan",
            "yes", "no", "on", "off", "y", "<<", "=", "1e400", "Infinity", "NaN", "None",
        )),
        ("'5'", "5"),
        ('"true"', "true"),
        ("!!str 5", "5"),
        ("!!int '7'", 7),
        ("!!timestamp 2026-02-03", "2026-02-03"),
        ("[a, 1, ~]", ["a", 1, None]),
        ("{w: 1, h: [2]}", {"w": 1, "h": [2]}),
        ("[]", []),
        ("[[Name]]", "[[Name]]"),
        ("[[Name#Part|label]]", "[[Name#Part|label]]"),
        ("[[2024]]", "[[2024]]"),
        ("[[Smith, John]]", "[[Smith, John]]"),
        ("[[1, 2]]", [[1, 2]]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("{{date}}", "{{date}}"),
        ("{{date:YYYY-MM-DD}}", "{{date:YYYY-MM-DD}}"),
        ("[{{a}}, b]", ["{{a}}", "b"]),
    ],
)  # fmt: skip
def test_a_value_means_what_its_writer_sees(written: str, value: Json) -> None:
    header = split(f"---\nkey: {written}\n---\n")
    assert header.values == {"key": value}
    assert type(header.values["key"]) is type(value)
    assert header.problems == ()


def test_keys_are_text() -> None:
    yaml = "2025: a\n2025-01-01: b\nnull: c\n1.50: d\ntrue: e\n? [a, b]\n: f\n'x': g"
    assert values(yaml) == {
        "2025": "a", "2025-01-01": "b", "null": "c", "1.50": "d", "true": "e", "[a, b]": "f",
        "x": "g",
    }  # fmt: skip


def test_anchors_and_merged_keys_are_resolved() -> None:
    assert values("base: &b {x: 1, y: 2}\ncopy: *b\nz:\n  <<: *b\n  y: 3") == {
        "base": {"x": 1, "y": 2},
        "copy": {"x": 1, "y": 2},
        "z": {"x": 1, "y": 3},
    }


def test_lines_of_keys_count_from_the_top_of_the_file() -> None:
    header = split("---\r\na: 1\r\nb:\r\n  - x\r\n\r\n# note\r\nc: 2\r\n---\r\n")
    assert header.key_lines == {"a": 2, "b": 3, "c": 7}


# What is wrong with it


@pytest.mark.parametrize(
    ("yaml", "expected", "line", "advice"),
    [
        (
            "title: Task 3: paint\ntags: [gate]",
            {"title": "Task 3: paint", "tags": ["gate"]},
            2,
            "colon",
        ),
        ("a: 1\nhandle: @someone", {"a": 1, "handle": "@someone"}, 3, "begins with @"),
        ("star: *important*", {"star": "*important*"}, 2, "begins with *"),
        ("ref: *missing", {"ref": "*missing"}, 2, "begins with *"),
        ("code: `x`", {"code": "`x`"}, 2, "begins with `"),
        ("done: %50", {"done": "%50"}, 2, "begins with %"),
        (
            "items:\n\t- one\n\t- 2\nplace: attic",
            {"items": ["one", 2], "place": "attic"},
            2,
            "tabs",
        ),
        ("who:\n  - @ann\n  - bob\nx: 1", {"who": ["@ann", "bob"], "x": 1}, 3, "alike"),
        ("tags: [a, @b, 2]", {"tags": ["a", "@b", 2]}, 2, "brackets"),
        ("related: [[A]], [[B]]", {"related": "[[A]], [[B]]"}, 2, "brackets"),
        ("title: {{title}} - x", {"title": "{{title}} - x"}, 2, "placeholder"),
        ('title: "open\nx: 1', {"title": '"open', "x": 1}, 2, "quotes do not match"),
        ("tags: [a, b\nx: 1", {"tags": "[a, b", "x": 1}, 2, "brackets"),
        ("title:x\ncount:5", {"title": "x", "count": 5}, 2, "blank after the colons"),
        ("a:\n b: 1\n  c: 2\nd: 3", {"a": "b: 1 c: 2", "d": 3}, 4, "alike"),
        ("owner: crew d\nkey:value\nx: 1", {"owner": "crew d", "x": 1}, 3, "belongs to no key"),
        ("count: 5\nloose\n  more\nx: 1", {"count": 5, "x": 1}, 3, "belongs to no key"),
        ("a: @b\n#c\n# d\nx: 1", {"a": "@b", "x": 1}, 2, "begins with @"),
    ],
)
def test_a_header_that_does_not_parse_keeps_what_can_be_read(
    yaml: str, expected: dict[str, Json], line: int, advice: str
) -> None:
    text = f"---\n{yaml}\n---\nbody"
    header = split(text)
    assert header.values == expected
    assert text[header.body_start :] == "body"
    assert [(problem.code, problem.line) for problem in header.problems] == [
        ("yaml_parse_error", line)
    ]
    assert advice in header.problems[0].message


def test_each_broken_value_is_reported_on_its_own_line() -> None:
    text = "---\na: @x\nb: fine\nc: `y`\n---\n"
    assert problems(text) == [("yaml_parse_error", 2), ("yaml_parse_error", 4)]


def test_a_value_and_the_loose_line_below_it_are_both_reported() -> None:
    text = "---\nlist:\n- @a\n- b\nloose\nx: 1\n---\n"
    assert split(text).values == {"list": ["@a", "b"], "x": 1}
    assert problems(text) == [("yaml_parse_error", 5), ("yaml_parse_error", 3)]
    assert problems(text.replace("\n", "\r\n")) == problems(text)


def test_an_unindented_line_goes_on_where_yaml_allows_it() -> None:
    assert values('tags: [a,\nb]\ntitle: "c\nd"\nlist:\n- e') == {
        "tags": ["a", "b"],
        "title": "c d",
        "list": ["e"],
    }


def test_the_last_of_a_key_counts_and_the_second_is_reported() -> None:
    text = "---\nstatus: draft\nowner: a\nstatus: final\nin: {k: 1, k: 2}\n---\n"
    assert split(text).values == {"status": "final", "owner": "a", "in": {"k": 2}}
    assert problems(text) == [("duplicate_key", 4), ("duplicate_key", 5)]


def test_an_unknown_tag_constructs_nothing() -> None:
    text = (
        '---\nx: !!python/object/apply:os.system ["touch it"]\ny: !custom tag\nz: !e {a: 1}\n---\n'
    )
    assert split(text).values == {"x": ["touch it"], "y": "!custom tag", "z": {"a": 1}}
    assert problems(text) == [("unknown_tag", 2), ("unknown_tag", 3), ("unknown_tag", 4)]


def test_aliases_in_a_circle_cost_only_their_key() -> None:
    text = "---\na: 1\nb: &b [x, *b]\nc: 2\n---\n"
    assert split(text).values == {"a": 1, "c": 2}
    assert problems(text) == [("value_too_large", 3)]


def test_a_bomb_of_aliases_is_bounded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join(f'*a{i - 1}' for _ in range(10))}]" for i in range(1, 12)]
    lines += [f"m: &m {'y' * 1000}", f"n: [{', '.join('*m' for _ in range(1000))}]", "last: kept"]
    started = time.process_time()
    header = split("---\n" + "\n".join(lines) + "\n---\n")
    assert time.process_time() - started < 5
    assert header.values["a1"] == [["x"] * 10] * 10
    assert header.values["last"] == "kept"
    assert len(json.dumps(header.values)) < 2_000_000
    assert {problem.code for problem in header.problems} == {"value_too_large"}


@pytest.mark.parametrize(
    "yaml",
    [
        "a: " + "[" * 90 + "]" * 90,
        "a: " + "[" * 5000 + "]" * 5000,
        "a: " + "[" * 100_000 + "]" * 100_000,  # libyaml by itself would end the process
        "a:\n " + "- " * 100_000 + "x",
    ],
)
def test_a_value_nested_too_deep_costs_only_its_key(yaml: str) -> None:
    header = split(f"---\n{yaml}\nb: 1\n---\n")
    assert header.values["b"] == 1
    assert len(header.problems) == 1
    json.dumps(header.values)


def test_control_characters_and_other_separators_are_blanks() -> None:
    assert values("a: x\x0by\u2028z\x00\nb: 1") == {"a": "x y z", "b": 1}


YAML_PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "-",
                "---",
                "\n",
                " ",
                "key: ",
                "- ",
                "[[",
                "]]",
                "{{",
                "}}",
                "&a ",
                "*a",
                "!t ",
                "? ",
                ": ",
                '"',
                "'",
                "|\n",
                "\t",
                "#",
                "<<: ",
                "\r\n",
                "tags: [a]\n",
                "2025-01-01",
                "\x85",
            ]
        ),
        st.text(max_size=5),
    ),
    max_size=20,
)


@given(YAML_PIECES)
def test_nothing_in_a_header_raises_and_all_of_it_is_json(pieces: list[str]) -> None:
    text = "---\nkey: 1\n" + "".join(pieces) + "\n---\nbody"
    header = split(text)
    assert json.loads(json.dumps(header.values, allow_nan=False)) == header.values
    assert header.body_start == 0 or text[: header.body_start].rstrip()[-3:] in ("---", "...")
    tags_of(header.values)
    aliases_of(header.values)
    property_links(header.values, header.key_lines)
    importance_of(header.values)
    updated_of(header.values)


# Tags, aliases, title


@pytest.mark.parametrize(
    ("yaml", "tags"),
    [
        ("tags: [Garden, '#tool']", ["Garden", "tool"]),
        ("tags: garden, tool", ["garden", "tool"]),
        ("tags: garden tool", ["garden", "tool"]),
        ("tags: '#garden #tool'", ["garden", "tool"]),
        ("tags:\n  - garden\n  - #tool", ["garden"]),
        ("tags:", []),
        ("tags: [2024, review, 1.5, true]", ["2024", "review", "1.5", "true"]),
        ("tags: [a, [b, [c]], A, in-box/to_read]", ["a", "b", "c", "in-box/to_read"]),
        ("Tags: a\ntag: [b, a]", ["a", "b"]),
        ("tags: ['a, b']", ["a", "b"]),
        ("other: a", []),
    ],
)
def test_tags_come_in_every_shape(yaml: str, tags: list[str]) -> None:
    assert tags_of(values(yaml)) == (tags, ())


def test_a_mapping_among_tags_is_a_problem() -> None:
    tags, found = tags_of(values("tags: [a, {b: c}]"))
    assert tags == ["a"]
    assert [problem.code for problem in found] == ["not_a_tag"]


@pytest.mark.parametrize(
    ("yaml", "aliases"),
    [
        ("aliases: Old Mill", ["Old Mill"]),
        ("aliases: AI, Artificial Intelligence", ["AI", "Artificial Intelligence"]),
        ("aliases: [Weir, 1984, ]", ["Weir", "1984"]),
        ("aliases: ['Smith, John', AT]", ["Smith, John", "AT"]),
        ("Aliases: [Ford]\nalias: Old", ["Ford", "Old"]),
        ("aliases:", []),
        ("aliases: [~, '', ' x  y ']", ["x y"]),
    ],
)
def test_aliases_come_as_text_and_as_a_list(yaml: str, aliases: list[str]) -> None:
    assert aliases_of(values(yaml)) == aliases


def test_a_title_is_text_on_one_line() -> None:
    assert title_of({"Title": " A\n b "}) == "A b"
    assert title_of({"title": 1984}) == "1984"
    assert title_of({"title": None}) is None
    assert title_of({"title": ["x"]}) is None
    assert title_of({}) is None


# Links


def targets(yaml: str) -> list[tuple[str, str | None, str | None, str | None, int]]:
    header = split(f"---\n{yaml}\n---\n")
    return [
        (link.target, link.subpath, link.label, link.property, link.line)
        for link in property_links(header.values, header.key_lines)
    ]


def test_wikilinks_count_in_every_property_at_any_depth() -> None:
    yaml = (
        'album: "[[Blue Hour]]"\nplayers:\n  - "[[crew/Drums|dr]]"\n  - [[Bass#Solo]]\n'
        'deep: {a: ["see [[X^b1]] and ![[Y|Z|w]]"]}\nup: [[Home]]\nlist: [[[P]], [[Q]]]'
    )
    assert targets(yaml) == [
        ("Blue Hour", None, None, "album", 2),
        ("crew/Drums", None, "dr", "players", 3),
        ("Bass", "Solo", None, "players", 3),
        ("X^b1", None, None, "deep", 6),
        ("Y", None, "Z|w", "deep", 6),
        ("Home", None, None, "up", 7),
        ("P", None, None, "list", 8),
        ("Q", None, None, "list", 8),
    ]


def test_a_markdown_link_to_a_note_counts_and_an_address_does_not() -> None:
    header = split(
        "---\nsrc: '[a](my%20note.md#Part%201), [b](<c d.md>), [w](https://x.org)'\n---\n"
    )
    assert property_links(header.values, header.key_lines) == [
        Link("my note.md", "Part 1", "a", "link", "markdown", 2, "src"),
        Link("c d.md", None, "b", "link", "markdown", 2, "src"),
    ]


def test_bare_text_is_a_link_in_the_lifecycle_properties_alone() -> None:
    yaml = (
        "derived_from: Note A, sub/Note B#Part\nsupports:\n  - C, D\n  - https://x.org/y\n"
        "  - 2024\nrelated: '[[E]], F|f'\nsuperseded-by: G\ncontradicts:\nstatus: H"
    )
    assert targets(yaml) == [
        ("Note A", None, None, "derived_from", 2),
        ("sub/Note B", "Part", None, "derived_from", 2),
        ("C, D", None, None, "supports", 3),
        ("2024", None, None, "supports", 3),
        ("E", None, None, "related", 7),
        ("F", None, "f", "related", 7),
        ("G", None, None, "superseded-by", 8),
    ]


def test_a_nested_list_from_another_reader_is_a_link() -> None:
    assert [link.target for link in property_links({"up": [["Name"]]}, {})] == ["Name"]


# Ratings and dates


@pytest.mark.parametrize(
    ("value", "importance"),
    [
        (3, 3.0), (5, 5.0), (1, 1.0), (0.5, 1 + 4 * 0.5), (0, 1.0), (2.5, 2.5), ("4", 4.0),
        ("High", 5.0), ("critical", 5.0), ("med", 3.0), ("low", 1.0),
        (1000000, 5.0), (10**400, 5.0), (-5, 1.0), ("80%", 1 + 4 * 0.8),
        (True, None), ([1], None), (None, None), ("", None), ("very", None), ({}, None),
        (float("nan"), None), ("nan", None), ("1e999", None), ("verified", None),
    ],
)  # fmt: skip
def test_importance_is_from_1_to_5_or_unknown(value: Json, importance: float | None) -> None:
    assert importance_of({"importance": value}) == importance


@pytest.mark.parametrize(
    ("value", "confidence"),
    [
        (0.7, 0.7), (1, 1.0), (4, 4 / 5), (0, 0.0), (9, 1.0), (-1, 0.0), ("0.3", 0.3), ("90%", 0.9),
        ("low", 0.25), ("Medium", 0.5), ("high", 0.85), ("verified", 1.0),
        (False, None), ("critical", None), ([], None), (float("inf"), 1.0),
    ],
)  # fmt: skip
def test_confidence_is_from_0_to_1_or_unknown(value: Json, confidence: float | None) -> None:
    assert confidence_of({"confidence": value}) == confidence


def test_what_is_absent_stays_unknown() -> None:
    assert (importance_of({}), confidence_of({}), updated_of({})) == (None, None, None)


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2026-02-03", dt.date(2026, 2, 3)),
        ("2026-02-03T23:30:00-05:00", dt.date(2026, 2, 3)),
        ("2026-02-03 08:15:00+02:00", dt.date(2026, 2, 3)),
        ("2026-02-03T08:15:00Z", dt.date(2026, 2, 3)),
        ("[[2026-02-03]]", dt.date(2026, 2, 3)),
        ("2026/2/3", dt.date(2026, 2, 3)),
        ("2026.02.03", dt.date(2026, 2, 3)),
        ("20260203", dt.date(2026, 2, 3)),
        (20260203, dt.date(2026, 2, 3)),
        ("20260203T081500", dt.date(2026, 2, 3)),
        (202602030815, dt.date(2026, 2, 3)),
        ("2025-07", dt.date(2025, 7, 1)),
        ("2025", dt.date(2025, 1, 1)),
        (2025, dt.date(2025, 1, 1)),
        ("3.2.2026", dt.date(2026, 2, 3)),
        ("1 May 2025", dt.date(2025, 5, 1)),
        ("Thursday, 1st May 2025", dt.date(2025, 5, 1)),
        ("May 1, 2025", dt.date(2025, 5, 1)),
        (1659393600, dt.date(2022, 8, 1)),
        (1659393600000, dt.date(2022, 8, 1)),
        *((value, None) for value in (
            "2026-13-45", "0000-00-00", "2026-02-30", "01/02/2025", "soon", "", None, True, 1.5, [],
            "10:30", 7, 99999, 10**30, "2025 was fine", "May 2025-", "-2025",
        )),
    ],
)  # fmt: skip
def test_a_date_is_the_day_that_is_written(value: Json, day: dt.date | None) -> None:
    assert date_of(value) == day


def test_a_note_is_as_new_as_the_surest_of_its_dates() -> None:
    assert updated_of({"created": "2020-01-01", "updated": "2021-01-01"}) == dt.date(2021, 1, 1)
    both = {"updated": "2021-01-01", "last_verified": "2019-01-01"}
    assert updated_of(both) == dt.date(2019, 1, 1)
    unusable = {"last_verified": "?", "modified": None, "date": "2018-01-01"}
    assert updated_of(unusable) == dt.date(2018, 1, 1)
    assert updated_of({"Date Modified": "2022-01-01"}) == dt.date(2022, 1, 1)


def test_a_clock_that_was_far_off_gives_a_day_all_the_same() -> None:
    assert day_of({"updated": "2024-03-05"}, 1e15, "2023-01-01.md") == dt.date(2024, 3, 5)
    assert day_of({}, 1e15, "2023-02-30.md") == dt.date.max
    assert day_of({}, -1e15, "a.md") == dt.date.min


def test_a_day_in_the_name_goes_behind_the_properties_and_before_the_file() -> None:
    name = "Log/2023-01-01 Standup.md"
    assert day_of({}, 1.7e9, name) == dt.date(2023, 1, 1)
    assert day_of({"created": "2022-02-02"}, 1.7e9, name) == dt.date(2022, 2, 2)
    assert day_of({}, 1.7e9, "2023-01-01/Standup.md") == dt.date(2023, 1, 1)
    assert day_of({}, 1.7e9, "Standup 2023-01-01.md") == dt.date(2023, 11, 14)


def test_a_block_of_indented_text_with_old_line_ends_is_body() -> None:
    header = split("---\r  text\r---\rbody")
    assert (header.values, header.body_start) == ({}, 0)

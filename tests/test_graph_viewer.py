"""The page that shows the graph: what is in it, and what it does in a real browser."""

from __future__ import annotations

import contextlib
import html.parser
import itertools
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cortex.cli import main
from cortex.desk import Desk
from cortex.errors import CortexError, UsageError
from cortex.graph_layout import place
from cortex.graph_viewer import drawing_source, page, page_data
from cortex.ops.viewer import title_of

CHECKOUT = Path(__file__).resolve().parent.parent
SCREENSHOTS = Path(os.environ.get("CORTEX_SCREENSHOTS", CHECKOUT / "test-output" / "screenshots"))
ATTACK = "</script><script>window.attacked=1</script>"
IMAGE = "<img src=x onerror=window.attacked=2>"
KEY = "sk-proj-a8Kd72nvPq01LmXz93TtYbRw4e5U"

NOTES = {
    "Index.md": "---\ntype: map\nstatus: active\n---\n# Index\n[[Bees]] [[Honey]] [[Wax]] [[Oak]]",
    "garden/Bees.md": (
        "---\ntype: fact\nstatus: active\ntags: [garden, insects]\n---\n"
        "# Bees\nThey dance for [[Honey]], and live in an [[Oak]]."
    ),
    "garden/Honey.md": (
        "---\ntype: fact\nstatus: draft\ntags: [food]\nsupersedes: '[[Wax]]'\n---\n"
        "# Honey\nSweet. Bees make it. See [[Nectar Flow]]."
    ),
    "garden/Wax.md": "---\ntype: fact\nstatus: superseded\n---\n# Wax\nFor candles.",
    "trees/Oak.md": (
        "---\ntype: project\nstatus: active\ntags: [garden]\n---\n# Oak\nPlanted in 1894."
    ),
    "Alone.md": "# Alone\nNobody links here.",
}
HOSTILE = {
    "a.md": f"---\ntitle: '{ATTACK}'\ntype: '{IMAGE}'\nstatus: '<b>x'\nx: '{ATTACK}'\n---\n"
    f"[[b]] {ATTACK} <!-- {IMAGE}",
    "b.md": f"---\ntitle: '{IMAGE}'\ntags: ['<i>']\n---\n# {IMAGE}\n"
    f"[[{IMAGE}]] [[a]] \u2028 \u2029 ]]> <![CDATA[ &lt; @DATA@ @PROGRAM@",
    "rtl.md": "# \u0634\u062c\u0631\u0629 \u202egnp.exe\n[[a]]",
    "emoji.md": "# 👩‍👩‍👧‍👦🐝\n[[a]]",
    "long.md": f"# {'Very long ' * 400}\n[[a]]",
    "<svg onload=window.attacked=3>.md": "# x\n[[a]]",
    "empty.md": "",
    "blank.md": "---\ntitle: ' '\n---\n",
    "prototype.md": "---\ntype: __proto__\nstatus: constructor\n---\n# toString\n[[a]]",
}


def page_of(cortex: Any, tmp_path: Path, **options: Any) -> Path:
    path: Path = Desk(cortex).write_viewer(tmp_path / "page.html", **options).path
    return path


def data_in(text: str) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert len(found) == 1
    data: dict[str, Any] = json.loads(found[0])
    return data


# Layout


def grid_of_groups(groups: int, size: int) -> tuple[int, list[tuple[int, int]]]:
    """Groups whose nodes all link to their first, which stand in a ring."""
    links = [(g * size, g * size + at) for g in range(groups) for at in range(1, size)]
    links += [(g * size, (g + 1) % groups * size) for g in range(groups)]
    return groups * size, links


def test_a_layout_is_the_same_each_time():
    count, links = grid_of_groups(20, 60)
    first = place(count, links, [1.0] * len(links), [4.0] * count)
    assert np.array_equal(first, place(count, links, [1.0] * len(links), [4.0] * count))


def test_no_two_nodes_lie_on_each_other():
    count, links = grid_of_groups(20, 60)
    points = place(count, links, [1.0] * len(links), [4.0] * count)
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    np.fill_diagonal(distance, np.inf)
    assert (distance.min(axis=1) < 2 * 4.0).mean() < 0.01


def test_what_is_linked_lies_nearer_than_what_is_not():
    count, links = grid_of_groups(20, 60)
    points = place(count, links, [1.0] * len(links), [4.0] * count)
    centres = points.reshape(20, 60, 2).mean(axis=1)
    nearest = np.sqrt(((points[:, None] - centres[None]) ** 2).sum(axis=2)).argmin(axis=1)
    assert (nearest == np.arange(count) // 60).mean() > 0.95


def test_components_stand_apart_and_nodes_without_links_lie_around_them():
    links = [(0, at) for at in range(1, 40)] + [(40, at) for at in range(41, 60)] + [(60, 61)]
    points = place(80, links, [1.0] * len(links), [4.0] * 80)
    out = np.sqrt(((points / np.abs(points[:62]).max(axis=0)) ** 2).sum(axis=1))
    assert out[:62].max() < out[62:].min()
    large, small = points[:40], points[40:60]
    between = np.sqrt(((large[:, None] - small[None]) ** 2).sum(axis=2)).min()
    assert between > 20


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_the_smallest_graphs_have_a_layout(count):
    links = [(at, at + 1) for at in range(count - 1)] + [(0, 0)] * (count > 0)
    points = place(count, links, [1.0] * len(links), [4.0] * count)
    assert points.shape == (count, 2)
    assert np.isfinite(points).all()
    assert len({tuple(point) for point in points.tolist()}) == count


# The file


def test_the_page_has_every_note_with_its_text_properties_and_problems(cortex_with, tmp_path):
    text = page_of(cortex_with(NOTES), tmp_path).read_text("utf-8")
    data = data_in(text)
    nodes, names = data["nodes"], data["names"]
    at = nodes["label"].index("Honey")
    assert (data["notes"], data["title"]) == (6, f"{tmp_path.name}/vault")
    assert nodes["file"][at] == "garden/Honey.md"
    assert nodes["excerpt"][at] == "Sweet. Bees make it. See [[Nectar Flow]]."
    assert names["fmTypes"][nodes["fmType"][at]] == "fact"
    assert names["statuses"][nodes["status"][at]] == "draft"
    assert [names["tags"][tag] for tag in nodes["tags"][at]] == ["food"]
    assert ["supersedes", "[[Wax]]"] in nodes["properties"][at]
    assert nodes["flags"][at] & 8  # [[Nectar Flow]] leads nowhere
    assert nodes["flags"][nodes["label"].index("Alone")] == 1 | 16 | 32
    ghost = nodes["label"].index("Nectar Flow")
    assert (names["types"][nodes["type"][ghost]], nodes["fault"][ghost]) == (
        "diagnostic",
        "unresolved",
    )
    lengths = {len(column) for column in nodes.values()}
    assert lengths == {len(nodes["label"])}


@pytest.mark.parametrize(
    ("vault", "home", "title"),
    [
        ("/srv/notes", "", "notes"),
        ("/home/ada/hermes-workspace/vault", "/home/ada", "hermes-workspace/vault"),
        ("/home/ada/vault", "/home/ada", "vault"),
        ("/vault", "", "vault"),
    ],
)
def test_a_page_is_called_as_the_vault_and_after_nobody(vault, home, title):
    assert title_of(Path(vault), home) == title


def test_headings_without_text_are_no_text(cortex_with, tmp_path):
    template = "# A\n\n## Summary\n{}\n## Details\n\n## Why it matters\n"
    cortex = cortex_with({"a.md": template.format(""), "b.md": template.format("Slate lasts.\n")})
    nodes = data_in(page_of(cortex, tmp_path).read_text("utf-8"))["nodes"]
    assert dict(zip(nodes["file"], nodes["excerpt"], strict=True)) == {
        "a.md": "",
        "b.md": "Slate lasts.",
    }


def test_a_type_is_what_a_filter_can_name_however_it_is_written(cortex_with, tmp_path):
    cortex = cortex_with(
        {
            "a.md": "---\ntype: '[[Kinds/App|App]]'\nstatus: [done, old]\n---\n",
            "b.md": "---\ntype: 7\nstatus: {x: 1}\n---\n",
            "c.md": "---\ntype: []\nstatus: ' '\n---\n",
        }
    )
    names = data_in(page_of(cortex, tmp_path).read_text("utf-8"))["names"]
    assert names["fmTypes"] == ["", "App", "7"]
    assert names["statuses"] == ["", "done"]


def test_the_page_is_the_same_each_time(cortex_with, tmp_path):
    cortex = cortex_with(NOTES)
    first = page_of(cortex, tmp_path).read_bytes()
    assert page_of(cortex, tmp_path).read_bytes() == first


def test_a_neighbourhood_leaves_the_rest_out_of_the_file(cortex_with, tmp_path):
    cortex = cortex_with(NOTES)
    data = data_in(page_of(cortex, tmp_path, neighborhood="oak").read_text("utf-8"))
    kinds = [data["names"]["types"][kind] for kind in data["nodes"]["type"]]
    notes = {
        label for label, kind in zip(data["nodes"]["label"], kinds, strict=True) if kind == "note"
    }
    assert notes == {"Oak", "Bees", "Index"}
    assert data["nodes"]["label"][data["centre"]] == "Oak"
    with pytest.raises(UsageError, match=r"no note .*hony.*Honey"):
        Desk(cortex).write_viewer(tmp_path / "x.html", neighborhood="hony")


def test_secrets_are_masked_wherever_they_stand(cortex_with, tmp_path):
    cortex = cortex_with(
        {
            "a.md": f"---\ntoken: {KEY}\nnested: {{deep: [{{password: correcthorse7}}]}}\n---\n"
            f"# Keys\nThe key is {KEY}.\npassword: Tr0ub4dor&3xyz\n[[{KEY}]]",
            "b.md": f"# About {KEY}\n" + "word " * 170 + f"\n\nkey {KEY} and more",
        }
    )
    text = page_of(cortex, tmp_path).read_text("utf-8")
    assert "[REDACTED:" in text
    assert KEY[8:20] not in text
    assert "correcthorse7" not in text
    assert "Tr0ub4dor" not in text


def test_a_text_without_blanks_has_an_excerpt_and_a_key_at_its_cut_none():
    nodes = [{"id": "note:a.md", "label": "a", "type": "note", "file": "a.md"}]

    def excerpt(text: str) -> str:
        chunks = [{"file": "a.md", "text": text}]
        data = page_data({"nodes": nodes, "edges": []}, [], chunks, title="t")
        shown: str = data["nodes"]["excerpt"][0]
        return shown

    assert excerpt("鐘" * 9000) == "鐘" * 899 + "…"
    for filler in range(2300, 2420):
        assert KEY[:12] not in excerpt("." * (filler - 2300) + " password: " + KEY + "x" * filler)
    assert KEY[:12] not in excerpt("word " * 178 + KEY)


def test_notes_that_are_excluded_since_have_no_text_in_the_page(cortex_with, tmp_path):
    cortex = cortex_with({**NOTES, "private/diary.md": "# Diary\nSomething of my own."})
    config = cortex.config.path
    config.write_text(
        config.read_text("utf-8").replace("vault: {", "vault: {exclude_folders: [private], "),
        "utf-8",
    )
    desk = Desk.open(config, env={})
    text = desk.write_viewer(tmp_path / "p.html").path.read_text("utf-8")
    assert "Something of my own" not in text
    assert "They dance for" in text


def test_no_note_can_end_the_element_that_holds_it(cortex_with, tmp_path):
    text = page_of(cortex_with(HOSTILE), tmp_path).read_text("utf-8")
    scripts = ScriptCounter()
    scripts.feed(text)
    assert scripts.kinds == ["application/json", None, None, None]
    labels = data_in(text)["nodes"]["label"]
    assert ATTACK in labels
    assert IMAGE in labels
    assert ATTACK not in text
    assert IMAGE not in text
    assert "\u2028" not in text


class ScriptCounter(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.kinds: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.kinds.append(dict(attrs).get("type"))


def test_the_page_asks_for_nothing_and_its_policy_forbids_to(cortex_with, tmp_path):
    text = page_of(cortex_with(NOTES), tmp_path).read_text("utf-8")
    head = text[: text.index("</head>")]
    assert "default-src 'none'" in head
    assert "unsafe" not in head
    assert not re.search(r'<(?:script|img|iframe)[^>]*\bsrc=|<link[^>]*href="(?!data:,")', text)


@pytest.mark.slow
def test_ten_thousand_long_notes_make_a_page_of_at_most_15_mb():
    nodes = [
        {"id": f"note:{at}.md", "label": f"Note {at}", "type": "note", "file": f"{at}.md"}
        for at in range(10_000)
    ]
    chunks = (
        {"file": f"{at}.md", "text": "A sentence of some words. " * 60} for at in range(10_000)
    )
    notes = [{"file": f"{at}.md", "frontmatter": {"a": "b " * 300}} for at in range(10_000)]
    data = page_data({"nodes": nodes, "edges": []}, notes, chunks, title="Large")
    assert 5_000_000 < len(page(data, "").encode("utf-8")) <= 15_000_000


def test_a_page_takes_the_place_of_a_page_and_of_nothing_else(cortex_with, tmp_path):
    desk = Desk(cortex_with(NOTES))
    with pytest.raises(UsageError, match="is a folder"):
        desk.write_viewer(tmp_path)
    note = tmp_path / "vault" / "Index.md"
    with pytest.raises(UsageError, match=r"ends in \.html"):
        desk.write_viewer(note)
    assert note.read_text("utf-8") == NOTES["Index.md"]
    for name in ("vault/Graph.md", "graph.txt", "graph"):
        with pytest.raises(UsageError, match=r"ends in \.html"):
            desk.write_viewer(tmp_path / name)
    (tmp_path / "file").write_text("")
    with pytest.raises(CortexError, match=r"file/x\.html cannot be written: .*name another file"):
        desk.write_viewer(tmp_path / "file" / "x.html")
    viewer = desk.write_viewer()
    # Neither the 4 tags are links, nor that Bees is named in Honey.
    assert (viewer.notes, viewer.links, viewer.broken) == (6, 7, 1)
    path = desk.write_viewer().path
    assert path == tmp_path / "state" / "graph.html"
    assert desk.write_viewer().path == path
    assert [one.name for one in path.parent.glob(".new-*")] == []


def test_without_a_graph_or_without_d3_it_says_what_to_run(cortex_with, tmp_path, monkeypatch):
    bare = cortex_with(NOTES, build=False)
    with pytest.raises(CortexError, match="run: cortex index"):
        Desk(bare).write_viewer(tmp_path / "p.html")
    bare.index()
    with pytest.raises(CortexError, match="run: cortex graph build"):
        Desk(bare).write_viewer(tmp_path / "p.html")
    desk = Desk(cortex_with(NOTES))
    monkeypatch.setattr("cortex.graph_viewer.drawing.find_spec", lambda name: None)
    with pytest.raises(CortexError, match=r"gravis.*run: cortex install"):
        desk.write_viewer(tmp_path / "p.html")
    assert not (tmp_path / "p.html").exists()


def test_a_damaged_index_is_named_with_what_mends_it(cortex_with, tmp_path):
    cortex = cortex_with(NOTES)
    stamp = cortex.state.stamp("index")
    path = stamp.file("chunks.jsonl")
    path.write_bytes(b"{" * path.stat().st_size)
    with pytest.raises(CortexError, match=r"chunks\.jsonl is damaged; run: cortex index --force"):
        Desk(cortex).write_viewer(tmp_path / "p.html")


def test_names_that_are_not_utf_8_stand_in_the_page():
    nodes = [{"id": "note:a.md", "label": "caf\udce9", "type": "note", "file": "a.md"}]
    data = page_data({"nodes": nodes, "edges": []}, [], [], title="th\udce9")
    text = page(data, "").encode("utf-8").decode("utf-8")
    assert data_in(text)["nodes"]["label"] == ["caf\ufffd"]
    assert "<title>th\ufffd</title>" in text


def test_a_page_is_named_by_text_too_and_its_making_is_told(cortex_with, tmp_path):
    said: list[Any] = []

    class Told:
        def start(self, label: str, total: int, unit: str) -> None:
            said.append((label, total, unit))

        def advance(self, count: int = 1) -> None:
            said.append(count)

        def finish(self) -> None:
            said.append("done")

    desk = Desk(cortex_with(NOTES))
    assert desk.write_viewer(str(tmp_path / "p.html"), progress=Told()).notes == len(NOTES)
    assert said == [("graph viewer", 4, "parts"), 1, 1, 1, 1, "done"]
    desk.export_graph("json", str(tmp_path / "g.json"))
    assert (tmp_path / "g.json").is_file() and (tmp_path / "p.html").is_file()


def test_the_command_prints_where_the_page_is(cortex_with, tmp_path, capsys):
    config = str(cortex_with(NOTES).config.path)
    target = tmp_path / "g.html"
    assert main(["graph", "viewer", "--config", config, "-o", str(target), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema_version"] == 1
    assert told["path"] == str(target)
    assert told["bytes"] == target.stat().st_size
    assert (told["notes"], told["warnings"]) == (6, [])
    (tmp_path / "vault/late.md").write_text("x", "utf-8")
    assert main(["graph", "viewer", "--config", config, "-o", str(target)]) == 0
    warning = "1 note changed since the index was built (1 added); run: cortex lifecycle maint"
    assert f"cortex: {warning}" in capsys.readouterr().err
    assert main(["graph", "viewer", "--config", config, "--depth", "2"]) == 2
    assert main(["graph", "viewer", "--config", config, "--neighborhood", "nope"]) == 2


def test_the_command_goes_on_when_the_vault_is_empty(cortex_with, tmp_path):
    data = data_in(page_of(cortex_with({}), tmp_path).read_text("utf-8"))
    assert data["notes"] == 0


# In the browser

browser_test = pytest.mark.browser


def chromium_path() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium without GPU, as in CI."""
    path = chromium_path()
    if path is None:
        if os.environ.get("CORTEX_REQUIRE_BROWSER"):
            pytest.fail("CORTEX_REQUIRE_BROWSER is set, and there is no chromium on the PATH")
        pytest.skip("no chromium on the PATH (apt-get install chromium)")
    api = pytest.importorskip("playwright.sync_api")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    arguments += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=arguments)
        yield chromium
        chromium.close()


class Shown:
    """A page in the browser, and all that it said and asked for."""

    def __init__(self, view: Any, path: Path) -> None:
        self.view = view
        self.said: list[str] = []
        self.asked: list[str] = []
        view.on("console", lambda message: self.said.append(message.text))
        view.on("pageerror", lambda error: self.said.append(str(error)))
        view.on("dialog", lambda dialog: (self.said.append("dialog"), dialog.dismiss()))
        view.on("request", lambda request: self.asked.append(request.url))
        view.goto(path.as_uri())
        self.settle()

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = self.view.evaluate("cortexGraph.state")
        return state

    def settle(self) -> None:
        """Wait until what is wanted is drawn and the view rests."""
        last = None
        for _ in range(400):
            state = self.state
            now = (state["scale"], state["x"], state["y"], state["drawn"])
            if not state["busy"] and now == last:
                return
            last = now
            self.view.wait_for_timeout(40)
        raise AssertionError(f"still at work: {self.state}")

    def node(self, label: str) -> int:
        found: int = self.view.evaluate("l => cortexGraph.model.nodes.label.indexOf(l)", label)
        assert found >= 0, label
        return found

    def press(self, *keys: str) -> None:
        for key in keys:
            self.view.keyboard.press(key)
        self.settle()

    def click_node(self, label: str) -> None:
        x, y = self.view.evaluate("n => cortexGraph.place(n)", self.node(label))
        self.view.locator("#graph").click(position={"x": x, "y": y})
        self.settle()

    def colours(self) -> int:
        """How many colours the canvas has: one when it is blank."""
        many: int = self.view.evaluate(
            "() => { const c = document.getElementById('graph'); "
            "const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height)"
            ".data.buffer); return new Set(d).size }"
        )
        return many

    def keep(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.view.screenshot(path=str(SCREENSHOTS / f"{name}.png"))


ShowPage = Callable[..., Shown]


@pytest.fixture
def show(browser: Any) -> Iterator[ShowPage]:
    """Opens a page; in the end it must have said nothing and asked for nothing but itself."""
    with contextlib.ExitStack() as contexts:
        opened: list[Shown] = []

        def open_page(path: Path, **options: Any) -> Shown:
            options.setdefault("viewport", {"width": 1280, "height": 800})
            context = contexts.enter_context(browser.new_context(**options))
            opened.append(Shown(context.new_page(), path))
            return opened[-1]

        yield open_page
        for shown in opened:
            assert shown.said == []
            assert [url for url in shown.asked if not url.startswith(("file:", "blob:"))] == []


@browser_test
def test_it_draws_the_notes_and_their_names(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    state = shown.state
    assert (state["notes"], state["links"]) == (6, 7)
    assert state["worker"] is True
    assert state["named"] == 6
    assert shown.colours() > 20
    assert shown.view.locator("#counts").inner_text() == "6 of 6 notes · 7 links"
    assert shown.view.title() == f"{tmp_path.name}/vault"
    legend = shown.view.locator("#legend").inner_text()
    assert "fact" in legend
    assert "supersedes" in legend
    shown.keep("light")


@browser_test
def test_it_draws_without_a_worker_too(cortex_with, tmp_path, browser):
    context = browser.new_context()
    context.add_init_script("delete window.Worker")
    shown = Shown(context.new_page(), page_of(cortex_with(NOTES), tmp_path))
    assert shown.state["worker"] is False
    assert shown.colours() > 20
    assert shown.said == []
    context.close()


@browser_test
@pytest.mark.parametrize(
    ("section", "row", "notes"),
    [("Type", "fact", 3), ("Status", "active", 3), ("Folder", "garden", 3)],
)
def test_a_filter_hides_what_it_is_taken_from(cortex_with, tmp_path, show, section, row, notes):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    part = shown.view.get_by_role("group", name=section, exact=True)
    if not part.is_visible():
        shown.view.locator("#filters summary", has_text=section).click()
    part.get_by_label(re.compile(f"^{row}")).uncheck()
    assert shown.state["notes"] == notes
    shown.view.get_by_role("button", name="Reset filters").click()
    assert shown.state["notes"] == 6


@browser_test
def test_tags_kinds_of_links_and_other_nodes_are_filters(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    tags = shown.view.get_by_role("group", name="Tags", exact=True)
    tags.get_by_label("Filter the list of tags").fill("gard")
    tags.get_by_label(re.compile("^#garden")).check()
    assert shown.state["notes"] == 2
    shown.view.get_by_role("button", name="Reset filters").click()
    links = shown.view.get_by_role("group", name="Links", exact=True)
    links.get_by_label(re.compile("^supersedes")).uncheck()
    assert (shown.state["notes"], shown.state["links"]) == (6, 6)
    before = shown.view.locator("#counts").inner_text()
    others = shown.view.get_by_role("group", name="Also show", exact=True)
    others.get_by_label(re.compile("^tags")).check()
    after = shown.view.locator("#counts").inner_text()
    assert before == "6 of 6 notes · 6 links"
    assert after == "6 of 6 notes · 3 tags · 6 links"
    assert shown.state["links"] == 6 + 4  # lines that are drawn: tags of notes too


@browser_test
def test_a_click_shows_the_text_and_the_links_lead_on(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    shown.click_node("Bees")
    details = shown.view.get_by_role("complementary", name="Details")
    assert details.get_by_role("heading", name="Bees").is_visible()
    assert "They dance for [[Honey]]" in details.inner_text()
    assert "garden/Bees.md" in details.inner_text()
    assert details.get_by_role("button", name="#insects").is_visible()
    headings = details.get_by_role("heading", level=3).all_inner_texts()
    assert [text for text in headings if "(" in text] == ["Links to (2)", "Linked from (2)"]
    assert shown.view.locator("#live").inner_text() == "Bees, note, 4 links"
    shown.keep("details")
    details.get_by_role("button", name="Honey links").click()
    shown.settle()
    assert shown.state["selected"] == shown.node("Honey")
    assert "broken links" in details.inner_text()
    details.get_by_role("button", name="Close").click()
    assert not details.is_visible()
    assert shown.state["selected"] == -1


@browser_test
def test_a_neighbourhood_is_focused_widened_and_left(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    shown.click_node("Wax")
    shown.view.get_by_role("button", name="Focus neighbourhood").click()
    shown.settle()
    assert shown.state["notes"] == 3  # Wax, Honey, Index
    assert shown.view.locator("#focusname").inner_text() == "Around Wax"
    shown.keep("neighbourhood")
    shown.view.get_by_role("button", name="2 steps away").click()
    shown.settle()
    assert shown.state["notes"] == 5
    shown.view.get_by_role("button", name="Show all").click()
    shown.settle()
    assert shown.state["notes"] == 6


@browser_test
def test_search_finds_as_one_types_and_enter_goes_there(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    shown.press("/")
    shown.view.keyboard.type("ho")
    options = shown.view.get_by_role("listbox").get_by_role("option")
    assert options.first.inner_text().splitlines() == ["Honey", "garden/Honey.md"]
    shown.view.keyboard.type("zzz")
    assert shown.view.locator("#found").inner_text() == "Nothing found"
    shown.view.locator("#search").fill("1894")  # only in the text of Oak
    assert [one.splitlines()[0] for one in options.all_inner_texts()] == ["Oak"]
    shown.press("Enter")
    assert shown.state["selected"] == shown.node("Oak")
    assert not shown.view.get_by_role("listbox").is_visible()


@browser_test
def test_what_filters_hide_is_shown_while_it_is_chosen(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    types = shown.view.get_by_role("group", name="Type", exact=True)
    types.get_by_label(re.compile("^fact")).uncheck()
    shown.press("/")
    shown.view.keyboard.type("bees")
    shown.press("Enter")
    assert (shown.state["notes"], shown.state["selected"]) == (4, shown.node("Bees"))
    shown.press("Escape", "Escape")
    assert (shown.state["notes"], shown.state["selected"]) == (3, -1)
    shown.click_node("Oak")
    types.get_by_label(re.compile("^project")).uncheck()
    assert shown.state["notes"] == 3
    shown.view.get_by_role("button", name="Close").click()
    assert shown.state["notes"] == 2


@browser_test
def test_the_keyboard_alone_is_enough(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    shown.press("/")
    shown.view.keyboard.type("index")
    shown.press("ArrowDown", "ArrowUp", "Enter")
    seen = {shown.state["selected"]}
    assert seen == {shown.node("Index")}
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        shown.press(key)
        seen.add(shown.state["selected"])
    assert len(seen) > 2
    spoken = shown.view.locator("#live").inner_text()
    assert ", note, " in spoken
    shown.press("n")
    assert shown.state["focus"]["depth"] == 1
    shown.press("2")
    assert shown.state["focus"]["depth"] == 2
    shown.press("Escape")  # the search still holds its word
    shown.press("Escape")
    assert shown.state["focus"] is None
    shown.press("Escape")
    assert shown.state["selected"] == -1
    scale = shown.state["scale"]
    shown.press("+")
    shown.view.wait_for_timeout(250)
    shown.settle()
    assert shown.state["scale"] == pytest.approx(scale * 1.4)
    x = shown.state["x"]
    shown.press("ArrowRight")
    assert shown.state["x"] == pytest.approx(x - 80)
    shown.press("t")
    assert shown.state["theme"] == "dark"
    shown.press("?")
    assert shown.view.get_by_role("dialog").is_visible()
    shown.press("Escape")
    assert not shown.view.get_by_role("dialog").is_visible()
    names = set()
    for _ in range(60):
        shown.view.keyboard.press("Tab")
        names.add(shown.view.evaluate("document.activeElement.id || document.activeElement.type"))
    assert {"graph", "search", "reset", "theme", "checkbox"} <= names


@browser_test
def test_keys_are_the_same_in_capitals(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    theme = shown.state["theme"]
    shown.press("T")
    assert shown.state["theme"] != theme
    shown.click_node("Wax")
    shown.press("N")
    assert shown.state["focus"]["depth"] == 1
    shown.press("S")
    assert not shown.view.locator("#side").is_visible()
    shown.press("F", "D")
    assert shown.view.locator("#legend").get_by_text("Problems").is_visible()


@browser_test
@pytest.mark.parametrize("size", [(1280, 800), (700, 500), (420, 760)])
def test_the_bar_of_a_neighbourhood_has_room_and_lies_under_nothing(
    cortex_with, tmp_path, show, size
):
    name = "A name of some length for a note"
    viewport = {"width": size[0], "height": size[1]}
    notes = {f"{name}.md": "[[b]] [[c]]", "b.md": "", "c.md": "", "d.md": ""}
    shown = show(page_of(cortex_with(notes), tmp_path), viewport=viewport)
    before = shown.state
    shown.view.evaluate("n => cortexGraph.choose(n)", shown.node(name))
    shown.press("n")
    bar = shown.view.locator("#focusname")
    is_whole = bar.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert is_whole is (size[0] > 1000)
    button = shown.view.get_by_role("button", name="Show all")
    assert button.bounding_box()["height"] < 40  # on one line
    button.click(timeout=3000)
    shown.press("Escape")
    shown.press("f")
    shown.view.wait_for_timeout(600)
    shown.settle()
    assert shown.state["notes"] == 4
    assert shown.state["scale"] == pytest.approx(before["scale"], rel=0.01)


@browser_test
def test_dragging_and_the_wheel_move_the_map(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path))
    before = shown.state
    shown.view.mouse.move(900, 120)
    shown.view.mouse.down()
    shown.view.mouse.move(860, 150, steps=4)
    shown.view.mouse.up()
    shown.settle()
    assert shown.state["x"] == pytest.approx(before["x"] - 40)
    assert shown.state["y"] == pytest.approx(before["y"] + 30)
    shown.view.mouse.wheel(0, -300)
    shown.settle()
    assert shown.state["scale"] > before["scale"] * 1.2


@browser_test
def test_problems_are_marked_and_filtered(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path, diagnostics=True), color_scheme="dark")
    assert shown.state["theme"] == "dark"
    assert shown.view.locator("#counts").inner_text() == "6 of 6 notes · 1 missing target · 7 links"
    assert "orphan" in shown.view.locator("#legend").inner_text()
    shown.keep("diagnostics-dark")
    problems = shown.view.get_by_role("group", name="Problems", exact=True)
    problems.get_by_label(re.compile("^orphan")).check()
    assert shown.state["notes"] == 1
    problems.get_by_label(re.compile("^broken links")).check()
    assert shown.state["notes"] == 2
    shown.click_node("Nectar Flow")
    assert "There is no note of this name." in shown.view.locator("#details").inner_text()


@browser_test
def test_nothing_that_notes_say_is_run(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(HOSTILE), tmp_path, diagnostics=True))
    count = shown.view.evaluate("cortexGraph.model.count")
    assert count >= len(HOSTILE)
    for node in range(count):
        shown.view.evaluate("n => cortexGraph.choose(n, { glide: false })", node)
    shown.view.locator("#search").fill("script")
    assert shown.view.locator("#results li").first.inner_text().splitlines()[0] == ATTACK
    shown.press("Enter")
    assert shown.view.locator("#details h2").inner_text() == ATTACK
    x, y = shown.view.evaluate("n => cortexGraph.place(n)", shown.state["selected"])
    shown.view.mouse.move(284 + x, y)
    shown.keep("hostile")
    assert shown.view.evaluate("window.attacked") is None
    assert shown.view.locator("#app img, #app svg, #app script").count() == 0


@browser_test
def test_the_policy_stops_what_would_be_fetched_or_run(cortex_with, tmp_path, browser):
    context = browser.new_context()
    shown = Shown(context.new_page(), page_of(cortex_with(NOTES), tmp_path))
    stopped = shown.view.evaluate(
        """async () => {
          const stopped = [];
          addEventListener("securitypolicyviolation", (e) => stopped.push(e.effectiveDirective));
          await fetch("https://cortex.invalid/").catch(() => 0);
          const image = new Image(); image.src = "https://cortex.invalid/x.png";
          const script = document.createElement("script");
          script.textContent = "window.attacked = 1"; document.body.append(script);
          document.body.insertAdjacentHTML("beforeend", "<b onclick='window.attacked = 2'>x</b>");
          document.querySelector("b[onclick]").click();
          await new Promise((done) => setTimeout(done, 200));
          return [[...new Set(stopped)].sort(), window.attacked ?? null];
        }"""
    )
    assert stopped == [["connect-src", "img-src", "script-src-attr", "script-src-elem"], None]
    context.close()


@browser_test
def test_names_do_not_lie_on_each_other(cortex_with, tmp_path, show):
    notes = {f"n{at}.md": f"# A note called {at}\n[[n{(at + 1) % 150}]]" for at in range(150)}
    shown = show(page_of(cortex_with(notes), tmp_path))
    far = shown.state["named"]
    assert 10 < far < 150
    for _ in range(4):
        shown.view.keyboard.press("+")
        shown.view.wait_for_timeout(250)
    shown.settle()
    assert shown.state["scale"] > 1


def rectangles(shown: Shown) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """By label, left, top, right, bottom: of the letters of each name, and of each disc."""
    labels = shown.view.evaluate("cortexGraph.model.nodes.label")
    names = {}
    for node, left, top, width, height in shown.view.evaluate("cortexGraph.names()"):
        names[labels[node]] = [left + 4, top + 5, left + width - 4, top + height - 5]
    discs = {}
    for label in names:
        x, y, radius = shown.view.evaluate(
            "n => [...cortexGraph.place(n), drawnRadius(cortexGraph.model.radius[n], "
            "cortexGraph.state.scale)]",
            shown.node(label),
        )
        inner = radius * 0.7  # a square in it
        discs[label] = [x - inner, y - inner, x + inner, y + inner]
    return names, discs


def overlap(one: list[float], other: list[float]) -> bool:
    return all(max(one[at], other[at]) < min(one[at + 2], other[at + 2]) for at in (0, 1))


STARTER = {
    "Start here.md": "[[Memory and notes]] [[Roof]] [[Ada Lovelace]]",
    "Memory and notes.md": "[[Start here]] [[Roof]]",
    "Roof.md": "[[Slate instead of tiles]] [[Slate lasts a century on this roof]]",
    "Slate instead of tiles.md": "[[Slate lasts a century on this roof]] [[Ada Lovelace]]",
    "Slate lasts a century on this roof.md": "[[Slate instead of tiles]]",
    "Ada Lovelace.md": "[[Start here]]",
}


@browser_test
@pytest.mark.parametrize("size", [(1280, 800), (800, 500)])
def test_names_lie_neither_on_each_other_nor_on_notes(cortex_with, tmp_path, show, size):
    viewport = {"width": size[0], "height": size[1]}
    shown = show(page_of(cortex_with(STARTER), tmp_path), viewport=viewport)
    for chosen in (None, *(name.removesuffix(".md") for name in STARTER)):
        if chosen is not None:
            shown.view.evaluate("n => cortexGraph.choose(n)", shown.node(chosen))
            shown.view.wait_for_timeout(500)
            shown.settle()
        names, discs = rectangles(shown)
        assert chosen is None or chosen in names
        for one, other in itertools.permutations(names, 2):
            assert not overlap(names[one], names[other]), (chosen, one, other)
            assert not overlap(names[one], discs[other]), (chosen, one, other)
    shown.keep(f"names-{size[0]}")


@browser_test
def test_a_name_keeps_its_place_while_the_map_is_dragged(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(STARTER), tmp_path))
    before, discs = rectangles(shown)
    shown.view.mouse.move(900, 120)
    shown.view.mouse.down()
    shown.view.mouse.move(767, 187, steps=7)
    shown.view.mouse.up()
    shown.settle()
    after, moved = rectangles(shown)
    assert after.keys() == before.keys()
    for name in before:
        for disc, rectangle in ((discs[name], before[name]), (moved[name], after[name])):
            rectangle[:] = [rectangle[at] - disc[at] for at in range(4)]
        assert after[name] == pytest.approx(before[name])


@browser_test
def test_a_small_window_keeps_the_graph_in_sight(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(NOTES), tmp_path), viewport={"width": 420, "height": 760})
    assert not shown.view.locator("#side").is_visible()
    assert shown.colours() > 20
    shown.view.get_by_role("button", name="Show or hide search and filters").click()
    assert shown.view.locator("#side").is_visible()
    shown.keep("small")


def rectangle(shown: Shown, selector: str) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of an element, from the canvas's corner."""
    box = shown.view.locator(selector).bounding_box()
    canvas = shown.view.locator("#graph").bounding_box()
    left, top = box["x"] - canvas["x"], box["y"] - canvas["y"]
    return left, top, left + box["width"], top + box["height"]


def is_seen(shown: Shown, label: str) -> bool:
    """Whether the middle of a node is on the canvas, and nothing lies on it there."""
    x, y = shown.view.evaluate("n => cortexGraph.place(n)", shown.node(label))
    left, top = itertools.islice(shown.view.locator("#graph").bounding_box().values(), 2)
    at: str = shown.view.evaluate(
        "([x, y]) => document.elementFromPoint(x, y)?.id", [left + x, top + y]
    )
    return at == "graph"


ALL_AROUND = {
    **{f"Note {at}.md": f"[[Note {(at + 1) % 30}]] [[Hub]]" for at in range(30)},
    "Hub.md": "In the middle.",
}


@browser_test
@pytest.mark.parametrize("size", [(1280, 800), (800, 500), (420, 760)])
def test_nothing_lies_on_a_note_at_first(cortex_with, tmp_path, show, size):
    viewport = {"width": size[0], "height": size[1]}
    shown = show(page_of(cortex_with(ALL_AROUND), tmp_path), viewport=viewport)
    labels = ["Hub", *(f"Note {at}" for at in range(30))]
    assert [label for label in labels if not is_seen(shown, label)] == []


@browser_test
def test_beside_details_no_note_lies_under_the_buttons(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(ALL_AROUND), tmp_path), viewport={"width": 700, "height": 500})
    shown.view.evaluate("n => cortexGraph.choose(n)", shown.node("Hub"))
    shown.settle()
    assert rectangle(shown, "#details")[0] > 380
    shown.view.locator("#fit").click()
    shown.view.wait_for_timeout(600)
    shown.settle()
    labels = ["Hub", *(f"Note {at}" for at in range(30))]
    assert [label for label in labels if not is_seen(shown, label)] == []


@browser_test
@pytest.mark.parametrize("size", [(1280, 800), (800, 500), (420, 760)])
def test_a_chosen_note_is_not_under_its_details(cortex_with, tmp_path, show, size):
    viewport = {"width": size[0], "height": size[1]}
    shown = show(page_of(cortex_with(ALL_AROUND), tmp_path), viewport=viewport)
    for label in ("Note 3", "Hub", "Note 20"):
        shown.view.evaluate("n => cortexGraph.choose(n)", shown.node(label))
        shown.settle()
        shown.view.wait_for_timeout(500)
        assert is_seen(shown, label)
        shown.view.evaluate("cortexGraph.choose(-1)")
        shown.settle()
    shown.press("f")
    shown.view.wait_for_timeout(500)
    rightmost = shown.view.evaluate(
        "() => { const m = cortexGraph.model; return m.nodes.label[m.x.indexOf(Math.max(...m.x))] }"
    )
    shown.click_node(rightmost)
    shown.view.wait_for_timeout(500)
    assert shown.state["selected"] == shown.node(rightmost)
    assert is_seen(shown, rightmost)


@browser_test
def test_a_note_that_search_chose_is_in_the_middle_of_what_is_free(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(ALL_AROUND), tmp_path))
    shown.press("/")
    shown.view.keyboard.type("note 17")
    shown.press("Enter")
    shown.view.wait_for_timeout(600)
    shown.settle()
    x, y = shown.view.evaluate("n => cortexGraph.place(n)", shown.node("Note 17"))
    legend, tools = rectangle(shown, "#legend"), rectangle(shown, "#tools")
    assert x == pytest.approx((legend[2] + tools[0]) / 2, abs=1)
    assert y == pytest.approx(400, abs=1)


@browser_test
def test_a_window_that_becomes_narrow_shows_the_graph_and_fits_it_anew(cortex_with, tmp_path, show):
    shown = show(page_of(cortex_with(ALL_AROUND), tmp_path))
    shown.view.set_viewport_size({"width": 500, "height": 600})
    shown.settle()
    assert not shown.view.locator("#side").is_visible()
    assert is_seen(shown, "Hub")
    shown.view.set_viewport_size({"width": 1280, "height": 800})
    shown.settle()
    assert shown.view.locator("#side").is_visible()


@browser_test
def test_the_legend_tells_what_has_no_colour_of_its_own_in_one_row(cortex_with, tmp_path, show):
    notes = {f"{at}.md": f"---\ntype: kind {at % 15:02}\n---\n# Note {at}" for at in range(30)}
    shown = show(page_of(cortex_with(notes), tmp_path))
    rows = shown.view.locator("#legend .row").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == [
        *(f"kind {at:02} 2" for at in range(12)),
        "all others 6",
    ]


@browser_test
@pytest.mark.slow
def test_ten_thousand_notes_are_drawn_panned_and_picked(tmp_path, show):
    count, links = grid_of_groups(100, 100)
    links += [(at, (at * 7919) % count) for at in range(count)]
    links += [(at, at // 100 * 100 + (at * 31) % 100) for at in range(count)]
    nodes = [
        {
            "id": f"note:{at}.md",
            "label": f"Note {at}",
            "type": "note",
            "file": f"{at % 9}/{at}.md",
            "fm_type": f"kind {at % 5}",
        }
        for at in range(count)
    ]
    edges = [
        {"source": f"note:{a}.md", "target": f"note:{b}.md", "type": "links_to"} for a, b in links
    ]
    data = page_data({"nodes": nodes, "edges": edges}, [], [], title="Ten thousand")
    path = tmp_path / "large.html"
    path.write_text(page(data, drawing_source()), "utf-8")
    shown = show(path)
    assert (shown.state["notes"], shown.state["links"]) == (10_000, len(links))
    assert shown.colours() > 100
    shown.keep("ten-thousand")
    shown.view.mouse.move(800, 400)
    shown.view.mouse.down()
    for step in range(20):
        shown.view.mouse.move(800 - 10 * step, 400 + 5 * step)
    shown.view.mouse.up()
    shown.settle()
    shown.view.evaluate("cortexGraph.choose(4321)")
    shown.view.wait_for_timeout(600)
    shown.settle()
    shown.view.evaluate("cortexGraph.choose(-1)")
    shown.settle()
    shown.click_node("Note 4321")
    assert shown.state["selected"] == 4321
    for one, other in itertools.pairwise(range(0, 10_000, 2500)):
        assert shown.view.evaluate("q => cortexGraph.find(q)[0]", f"Note {one}") != other
    shown.keep("ten-thousand-chosen")

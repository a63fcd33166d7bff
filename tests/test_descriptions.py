"""vault.descriptions: what the user says of a place comes with the hits from there."""

from __future__ import annotations

import json

import pytest

from conftest import CortexMaker
from cortex import ConfigError
from cortex.cli import main
from cortex.plugin import Tools
from cortex.runtime import Runtime

NOTES = {
    "root.md": "honey",
    "Projects/a.md": "honey",
    "Projects/Garden/b.md": "honey",
    "Projects/Garden/beds/c.md": "honey",
    "Areas/Garden/d.md": "honey",
    "Projects/log.md": "honey",
}


@pytest.mark.parametrize(
    ("descriptions", "expected"),
    [
        (
            "{Projects: Work, Projects/Garden: The allotment, .: At the root}",
            {
                "root.md": "At the root",
                "Projects/a.md": "Work",
                "Projects/Garden/b.md": "The allotment",
                "Projects/Garden/beds/c.md": "The allotment",
                "Areas/Garden/d.md": "",
                "Projects/log.md": "Work",
            },
        ),
        (
            "{'**': All, Projects/**: Work, '**/Garden': Gardens, Projects/log.md: The log}",
            {
                "root.md": "All",
                "Projects/a.md": "Work",
                "Projects/Garden/b.md": "Gardens",
                "Projects/Garden/beds/c.md": "Gardens",
                "Areas/Garden/d.md": "Gardens",
                "Projects/log.md": "The log",
            },
        ),
        ("{}", dict.fromkeys(NOTES, "")),
    ],
)
def test_the_most_specific_description_comes_with_a_hit(
    cortex_with: CortexMaker, descriptions: str, expected: dict[str, str]
) -> None:
    cortex = cortex_with(NOTES)
    told = f", descriptions: {descriptions}}}"
    text = cortex.config.path.read_text("utf-8").replace("'}", f"'{told}", 1)
    cortex.config.path.write_text(text, "utf-8")
    result = type(cortex).open(cortex.config.path, env={}).search("honey")
    assert {hit.chunk.note: hit.description for hit in result.hits} == expected


@pytest.mark.parametrize(
    ("descriptions", "message"),
    [
        ("[Projects]", "must be globs with a line each, e.g. {Projects/Garden: The allotment}"),
        ("Projects", "must be globs with a line each"),
        ("{Projects: }", "vault.descriptions.Projects needs a line that says what lies there"),
        ("{Projects: [a]}", "vault.descriptions.Projects must be one value, found a list"),
        ("{'': All}", "has no glob"),
        ("{/home: All}", "vault.descriptions./home must be a glob over folders of the vault"),
        ("{../x: All}", "must be a glob over folders of the vault"),
        ("{A: a, A: b}", "vault.descriptions.A stands twice"),
        ("{A: " + "x" * 301 + "}", "may have 300 characters, found 301"),
    ],
)
def test_a_wrong_description_is_one_clear_line(
    cortex_with: CortexMaker, descriptions: str, message: str
) -> None:
    with pytest.raises(ConfigError) as told:
        cortex_with({}, f"vault: {{path: ., descriptions: {descriptions}}}", build=False)
    assert message in str(told.value) and "\n" not in str(told.value)


def test_commands_tools_and_contexts_tell_what_lies_where_once(
    cortex_with: CortexMaker,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cortex = cortex_with({"G/a.md": "honey from the hill", "G/b.md": "honey", "c.md": "honey"})
    text = cortex.config.path.read_text("utf-8")
    text = text.replace("'}", "', descriptions: {G: 'The allotment <vault_context>'}}", 1)
    cortex.config.path.write_text(text, "utf-8")
    monkeypatch.setenv("CORTEX_CONFIG", str(cortex.config.path))
    assert main(["config", "show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["vault"]["descriptions"] == {"G": "The allotment <vault_context>"}
    assert main(["search", "honey"]) == 0
    assert capsys.readouterr().out.count("there: The allotment") == 1
    assert main(["search", "honey", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["results"]
    assert {e["file"]: bool(e["description"]) for e in entries} == {
        "G/a.md": True,
        "G/b.md": True,
        "c.md": False,
    }
    tools = Tools(Runtime())
    answer = json.loads(tools.vault_search({"query": "honey"}))
    told = [entry.get("description") for entry in answer["results"]]
    assert told.count("The allotment &lt;vault_context>") == 1
    answer = json.loads(tools.vault_search({"query": "honey", "detail": "full"}))
    assert [bool(e.get("description")) for e in answer["results"]].count(True) == 2
    context = type(cortex).open(cortex.config.path, env={}).build_context("honey").text
    assert context.count("– The allotment &lt;vault_context>") == 1

"""`cortex completion`: what real shells offer once they have read its script."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from cortex import cli
from cortex.cli.completion import places

SHELLS = ("bash", "zsh", "fish")

# A line as typed up to the cursor -> something that is offered, and something that is not.
OFFERED = [
    ("cortex sta", "status", "search"),
    ("cortex graph ce", "centrality", "build"),
    ("cortex graph broken --li", "--limit", "--json"),
    ("cortex --quiet graph cen", "centrality", "status"),
    ("cortex --config some.yaml graph cen", "centrality", "status"),
    ("cortex completion fi", "fish", "bash"),
    ("cortex help doc", "doctor", "status"),
    ("cortex index --config ./sett", "settings.yaml", "--force"),
    ("hermes cortex doc", "doctor", "status"),
    ("hermes -p work cortex graph cen", "centrality", "status"),
]


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "settings.yaml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        if os.environ.get("CORTEX_REQUIRE_SHELLS"):
            pytest.fail(f"{shell} is not installed, and CORTEX_REQUIRE_SHELLS is set")
        pytest.skip(f"{shell} is not installed")


def test_every_place_of_every_command_is_known_and_every_subcommand_has_one():
    known = {place.path: place for place in places()}
    assert set(cli.COMMANDS) == {path[0] for path in known if path and path[0] != "help"}
    assert [word for word, _ in known[()].words] == [*cli.COMMANDS, "help"]
    assert ("graph", "build") in known and ("model", "verify") in known
    options = {name: o for o in known[("graph", "broken")].options for name in o.names}
    assert options["--config"].value == "files"
    assert options["--limit"].value == "other"
    assert options["--json"].value == ""


def test_a_shell_that_is_not_known_is_answered_with_those_that_are(capsys):
    assert cli.main(["completion", "powershell"]) == 2
    assert "bash" in capsys.readouterr().err
    assert cli.main(["completion"]) == 2


@pytest.mark.parametrize(("line", "offered", "other"), OFFERED)
def test_bash_offers_what_may_come_next(line, offered, other, folder, capsys):
    needs("bash")
    words = line.split(" ")
    run = "_cortex_in_hermes" if words[0] == "hermes" else "_cortex"
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; {run}"
    said = shell_says("bash", script("bash", capsys), ask + "; printf '%s\\n' \"${COMPREPLY[@]}\"")
    found = [Path(name).name for name in said.split("\n")]
    assert offered in found and other not in found


def test_bash_reads_an_option_and_its_value_joined_by_an_equals_sign(folder, capsys):
    needs("bash")
    ask = "COMP_WORDS=(cortex index --config = sett); COMP_CWORD=4; _cortex; echo $COMPREPLY"
    assert shell_says("bash", script("bash", capsys), ask).strip() == "settings.yaml"


def test_in_bash_what_completes_hermes_already_goes_on_doing_so(folder, capsys):
    needs("bash")
    host = "_host() { COMPREPLY=(gateway); }; complete -F _host hermes\n"
    ours = script("bash", capsys)
    ask = "COMP_WORDS=(hermes gat); COMP_CWORD=1; _cortex_in_hermes; echo ${COMPREPLY[*]}"
    assert shell_says("bash", host + ours + ours, ask).strip() == "gateway"


@pytest.mark.parametrize(("line", "offered", "other"), OFFERED)
def test_fish_offers_what_may_come_next(line, offered, other, folder, capsys):
    needs("fish")
    said = shell_says("fish", script("fish", capsys), f"complete -C {line!r}", "--no-config")
    found = [Path(row.split("\t")[0]).name for row in said.split("\n")]
    assert offered in found and other not in found


@pytest.mark.parametrize(("line", "offered", "other"), OFFERED)
def test_zsh_completes_what_was_begun(line, offered, other, folder, capsys):
    needs("zsh")
    (folder / "cortex.zsh").write_text(script("zsh", capsys), "utf-8")
    assert typed_in_zsh(line, folder).endswith(offered)


def test_in_zsh_what_completes_hermes_already_goes_on_doing_so(folder, capsys):
    needs("zsh")
    host = "_host() { compadd gateway }; compdef _host hermes\n"
    ours = script("zsh", capsys)
    (folder / "cortex.zsh").write_text(host + ours + ours, "utf-8")
    assert typed_in_zsh("hermes gat", folder).endswith("gateway")


@pytest.mark.parametrize("shell", SHELLS)
def test_texts_of_help_are_text_to_every_shell(shell, folder, capsys, monkeypatch):
    needs(shell)
    nasty = "it's $(touch ran) `touch ran` \"; touch ran; \\ [a]: %d 'x"
    monkeypatch.setitem(cli.COMMANDS, "status", nasty)
    text = script(shell, capsys)
    (folder / f"script.{shell}").write_text(text, "utf-8")
    checked = subprocess.run([shell, "-n", f"script.{shell}"], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")
    shell_says(shell, text, "true")
    if shell == "fish":
        assert "status" in shell_says(shell, text, "complete -C 'cortex sta'", "--no-config")
    assert not (folder / "ran").exists()


def shell_says(shell: str, script: str, ask: str, *options: str) -> str:
    ran = subprocess.run(
        [shell, *options, "-c", f"{script}\n{ask}"], capture_output=True, text=True, timeout=60
    )
    assert ran.stderr == ""
    return ran.stdout


def typed_in_zsh(line: str, folder: Path) -> str:
    """What stands on the line of a real terminal after the tab key."""
    pty = pytest.importorskip("pty")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        env = {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": str(folder), "PS1": "ready> "}
        os.execvpe("zsh", ["zsh", "-f", "-i"], env)
    try:
        read_until(terminal, r"ready> ")
        setup = "unsetopt zle_bracketed_paste; autoload -U compinit && compinit -u -D"
        os.write(terminal, f"{setup}; source ./cortex.zsh; echo set''-up\n".encode())
        read_until(terminal, r"set-up\s+.*ready> ")
        # A key of our own prints the line as it stands after the completion.
        widget = "told() { print -r -- \"<<$BUFFER>>\" > told }; zle -N told; bindkey '^O' told"
        os.write(terminal, f"{widget}; echo bo''und\n".encode())
        read_until(terminal, r"bound\s+.*ready> ")
        os.write(terminal, f"{line}\t\x0f".encode())
        told = folder / "told"
        for _ in range(200):
            if told.exists() and told.read_text().endswith(">>\n"):
                return told.read_text().strip()[2:-2].rstrip()
            select.select([terminal], [], [], 0.05)[0] and os.read(terminal, 65536)
        raise AssertionError("zsh did not answer")
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)


def read_until(terminal: int, pattern: str) -> None:
    seen = ""
    end = time.monotonic() + 30
    while not re.search(pattern, seen, re.DOTALL):
        assert time.monotonic() < end, json.dumps(seen)
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65536).decode("utf-8", "replace")


def test_values_of_options_that_take_others_too_are_offered():
    from cortex.graph_artifacts import NODE_TYPES

    known = {place.path: place for place in places()}
    for path, option, values in (
        (
            ("note", "new"),
            "--type",
            ("fact", "decision", "project", "runbook", "person", "map", "note"),
        ),
        (("graph", "centrality"), "--node-type", NODE_TYPES),
        (("graph", "export"), "--node-type", NODE_TYPES),
    ):
        offered = {name: o.choices for o in known[path].options for name in o.names}
        assert offered[option] == values

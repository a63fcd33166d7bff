"""`cortex init --enable`: Cortex turned on in the host's config.yaml, all else left as it is."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cortex.cli import main
from cortex.errors import CortexError
from cortex.ops import host_config

ON = {"enabled": ["cortex"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A Hermes home with the plugin in it."""
    home = tmp_path / "hermes"
    (home / "plugins" / "cortex" / "skills").mkdir(parents=True)
    (home / "plugins" / "cortex" / "plugin.yaml").write_text("name: cortex\n")
    return home


@pytest.fixture
def enabled(home: Path) -> Callable[[str], str]:
    """What enabling makes of a config.yaml."""

    def enabled(text: str) -> str:
        (home / "config.yaml").write_bytes(text.encode("utf-8"))
        edit = host_config.enabling(home)
        host_config.write(edit)
        assert not host_config.enabling(home).is_needed
        assert host_config.is_enabled(home)
        written = (home / "config.yaml").read_bytes().decode("utf-8")
        assert written == edit.after
        return written

    return enabled


SKILLS = "skills:\n  external_dirs:\n    - plugins/cortex/skills\n"
FLOW_SKILLS = "skills: {external_dirs: [plugins/cortex/skills]}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"plugins:\n  enabled:\n    - cortex\n{SKILLS}"),
        ("# empty\n", f"# empty\nplugins:\n  enabled:\n    - cortex\n{SKILLS}"),
        ("a: 1", f"a: 1\nplugins:\n  enabled:\n    - cortex\n{SKILLS}"),
        (
            f"plugins:   # mine\n{SKILLS}",
            f"plugins:   # mine\n  enabled:\n    - cortex\n{SKILLS}",
        ),
        (f"plugins: null # x\n{SKILLS}", f'plugins: {{"enabled": ["cortex"]}} # x\n{SKILLS}'),
        (f"plugins: ~\n{SKILLS}", f'plugins: {{"enabled": ["cortex"]}}\n{SKILLS}'),
        (f"plugins: {{}}\n{SKILLS}", f'plugins: {{"enabled": ["cortex"]}}\n{SKILLS}'),
        (
            f"plugins:\n    entries: {{x: 1}}  # kept\n{SKILLS}",
            f"plugins:\n    enabled:\n      - cortex\n    entries: {{x: 1}}  # kept\n{SKILLS}",
        ),
        (
            f"plugins:\n  enabled:\n{SKILLS}",
            f"plugins:\n  enabled:\n    - cortex\n{SKILLS}",
        ),
        (f"plugins:\n  enabled: ~\n{SKILLS}", f'plugins:\n  enabled: ["cortex"]\n{SKILLS}'),
        (f"plugins:\n  enabled: []\n{SKILLS}", f"plugins:\n  enabled: [cortex]\n{SKILLS}"),
        (
            f"plugins: {{enabled: [ a, 'b' ] , x: 'y'}}  # z\n{SKILLS}",
            f"plugins: {{enabled: [ a, 'b', cortex ] , x: 'y'}}  # z\n{SKILLS}",
        ),
        (
            f"plugins:\n  enabled:\n  - a   # one\n  # two\n  disabled: [x]\n{SKILLS}",
            f"plugins:\n  enabled:\n  - a   # one\n  - cortex\n  # two\n  disabled: [x]\n{SKILLS}",
        ),
        (
            f"plugins:\n  enabled:\n      - 'a'\n{SKILLS}",
            f"plugins:\n  enabled:\n      - 'a'\n      - cortex\n{SKILLS}",
        ),
        (
            f"plugins:\n  enabled: [cortex]\n  disabled:\n    - cortex  # for now\n{SKILLS}",
            f"plugins:\n  enabled: [cortex]\n  disabled: []\n{SKILLS}",
        ),
        (
            f"plugins:\n  enabled: [cortex]\n  disabled:\n    - a\n    - cortex\n    - b\n{SKILLS}",
            f"plugins:\n  enabled: [cortex]\n  disabled:\n    - a\n    - b\n{SKILLS}",
        ),
        (
            f"plugins:\n  enabled: [cortex]\n  disabled: [cortex, 'a']\n{SKILLS}",
            f"plugins:\n  enabled: [cortex]\n  disabled: ['a']\n{SKILLS}",
        ),
        (
            "skills: {external_dirs: ~/skills}\nplugins:\n  enabled: [cortex]\n",
            'skills: {external_dirs: ["~/skills", "plugins/cortex/skills"]}\n'
            "plugins:\n  enabled: [cortex]\n",
        ),
        (
            f"text: |+\n  last\n\nplugins:\r\n  enabled: [ö]\r\n{SKILLS}",
            f"text: |+\n  last\n\nplugins:\r\n  enabled: [ö, cortex]\r\n{SKILLS}",
        ),
        (
            '{\n  "plugins": {\n    "enabled": [\n      "a"\n    ]\n  }\n}\n',
            '{\n  "plugins": {\n    "enabled": [\n      "a",\n      "cortex"\n    ]\n  },\n'
            '  "skills": {"external_dirs": ["plugins/cortex/skills"]}\n}\n',
        ),
        (
            '{"skills":{"external_dirs":[]},"plugins":{"enabled":["cortex"]}}',
            '{"skills":{"external_dirs":["plugins/cortex/skills"]},"plugins":{"enabled":["cortex"]}}',
        ),
        (
            f"{{\n\t'plugins': {{\n\t\t'enabled': [\n\t\t\t\"a\"\n\t\t]\n\t}},{FLOW_SKILLS}}}\n",
            f"{{\n\t'plugins': {{\n\t\t'enabled': [\n\t\t\t\"a\",\n\t\t\t\"cortex\"\n\t\t]\n\t}},"
            f"{FLOW_SKILLS}}}\n",
        ),
        ("---\n", f"---\nplugins:\n  enabled:\n    - cortex\n{SKILLS}"),
        (
            f"\ufeffplugins:\n  enabled:\n    - a\n{SKILLS}",
            f"\ufeffplugins:\n  enabled:\n    - a\n    - cortex\n{SKILLS}",
        ),
        # The host reads only a list, so these say nothing to it.
        (f"plugins:\n  enabled: cortex\n{SKILLS}", f'plugins:\n  enabled: ["cortex"]\n{SKILLS}'),
        (
            f"plugins:\n  disabled: cortex\n  enabled: []\n{SKILLS}",
            f"plugins:\n  disabled: cortex\n  enabled: [cortex]\n{SKILLS}",
        ),
        ("{}", '{"plugins": {"enabled": ["cortex"]}, "skills": '
               '{"external_dirs": ["plugins/cortex/skills"]}}'),
    ],
)  # fmt: skip
def test_only_the_entry_is_put_there_and_every_other_byte_stays(
    enabled: Callable[[str], str], before: str, after: str
) -> None:
    assert enabled(before) == after


def test_a_long_config_with_everything_in_it_keeps_its_lines(
    enabled: Callable[[str], str],
) -> None:
    before = (
        "# Hermes\n"
        "model:\n    provider:   custom\n    api_key: 'sk-1'\n\n"
        "anchors: &a {x: 1}\nuses: *a\n"
        "prompt: >-\n  folded\n  text\n"
        'quoted: "a\\tb"\nlong: '
        + "word " * 60
        + "\nplugins:\n- not\n".replace("plugins:\n- not\n", "")
        + "plugins:\n  # those I use\n  enabled:\n    - web   # search\n\n  disabled: []\n"
        "tail: [1,2,   3]   # end\n"
    )
    after = enabled(before)
    kept = [line for line in after.splitlines() if "cortex" not in line]
    assert kept == [*before.splitlines(), "skills:", "  external_dirs:"]
    assert yaml.safe_load(after)["plugins"]["enabled"] == ["web", "cortex"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plugins: [\n", "line 2: "),
        ("a: 1\n--- \nb: 2\n", "expected a single document"),
        ("- a\n", "holds no settings by name"),
        ("plugins: 3\n", "edit plugins.enabled in it by hand"),
        ("plugins:\n  enabled: {a: 1}\n", "edit plugins.enabled in it by hand"),
        ("plugins:\n  enabled: other\n", "edit plugins.enabled in it by hand"),
        ("x: &l [a]\nplugins: {enabled: *l}\n", "edit plugins.enabled in it by hand"),
        ("x: &p {a: 1}\nplugins: *p\n", "edit plugins.enabled in it by hand"),
        ("a: 1\n...\n", "edit plugins.enabled in it by hand"),
        ("a: b: c\n", "mapping values are not allowed"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused_untouched(
    home: Path, text: str, said: str
) -> None:
    (home / "config.yaml").write_text(text)
    with pytest.raises(CortexError, match=re.escape(said)):
        host_config.write(host_config.enabling(home))
    assert (home / "config.yaml").read_text() == text
    assert sorted(file.name for file in home.iterdir()) == ["config.yaml", "plugins"]


def test_a_config_that_is_no_utf8_is_refused(home: Path) -> None:
    (home / "config.yaml").write_bytes("a: ü".encode("utf-16"))
    with pytest.raises(CortexError, match=r"is not UTF-8; nothing was changed"):
        host_config.enabling(home)


def test_the_old_text_is_kept_beside_it_with_the_same_rights(home: Path) -> None:
    file = home / "config.yaml"
    file.write_text("a: 1\n")
    file.chmod(0o640)
    backup = host_config.write(host_config.enabling(home))
    assert backup is not None and backup.parent == home
    assert re.fullmatch(r"config\.yaml\.cortex-backup-\d{8}T\d{6}", backup.name)
    assert backup.read_text() == "a: 1\n"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, backup)] == [0o640, 0o640]


def test_a_config_that_is_a_link_stays_one(home: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.yaml").write_text("a: 1\n")
    (home / "config.yaml").symlink_to(tmp_path / "dotfiles.yaml")
    host_config.write(host_config.enabling(home))
    assert (home / "config.yaml").is_symlink()
    assert yaml.safe_load((tmp_path / "dotfiles.yaml").read_text())["plugins"] == ON


def test_a_change_by_somebody_else_in_between_is_not_lost(home: Path) -> None:
    (home / "config.yaml").write_text("a: 1\n")
    edit = host_config.enabling(home)
    (home / "config.yaml").write_text("a: 2\n")
    with pytest.raises(CortexError, match="was changed just now"):
        host_config.write(edit)
    assert (home / "config.yaml").read_text() == "a: 2\n"


def test_where_nothing_can_be_written_it_is_refused_at_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.yaml").write_text("a: 1\n")
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != home)
    with pytest.raises(CortexError, match=r"config.yaml can't be edited: .* can't be written to"):
        host_config.enabling(home)
    (home / "config.yaml").write_text(f"plugins: {{enabled: [cortex]}}\n{SKILLS}")
    assert not host_config.enabling(home).is_needed


def test_a_write_that_fails_leaves_the_file_and_nothing_beside_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*paths: object) -> None:  # as for a file that is mounted by itself
        raise OSError(16, "Device or resource busy")

    (home / "config.yaml").write_text("a: 1\n")
    edit = host_config.enabling(home)
    monkeypatch.setattr(os, "replace", busy)
    with pytest.raises(CortexError, match=r"can't be written: Device or resource busy; it is as"):
        host_config.write(edit)
    assert snapshot(home)["config.yaml"] == b"a: 1\n"
    assert sorted(file.name for file in home.iterdir()) == ["config.yaml", "plugins"]


def test_the_file_and_its_copy_stay_their_owners(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / "config.yaml"
    file.write_text("a: 1\n")
    owner = (file.stat().st_uid, file.stat().st_gid)
    given = []
    monkeypatch.setattr(os, "chown", lambda path, *ids: given.append(ids))
    host_config.write(host_config.enabling(home))
    assert given == [owner, owner]


def test_a_key_of_which_the_diff_shows_but_the_end_is_masked(home: Path) -> None:
    lines = [f"  {'QUJD' * 16}" for _ in range(6)]
    key = ["-----BEGIN PRIVATE KEY-----", *(line.strip() for line in lines)]
    text = "tls: |\n" + "".join(f"  {line}\n" for line in [*key, "-----END PRIVATE KEY-----"])
    (home / "config.yaml").write_text(text)
    shown = host_config.enabling(home).diff()
    assert "\n+    - cortex\n" in shown
    assert "QUJD" not in shown


@pytest.mark.parametrize("text", ["plugins:\n  enabled: [a]\n", "plugins: {disabled: [b]}\n", ""])
def test_disabling_takes_out_what_enabling_put_there(home: Path, text: str) -> None:
    (home / "config.yaml").write_text(text)
    host_config.write(host_config.enabling(home))
    host_config.write(host_config.disabling(home))
    assert host_config.is_enabled(home) is False
    settings = yaml.safe_load((home / "config.yaml").read_text())
    assert settings["plugins"]["enabled"] == (["a"] if "[a]" in text else [])
    assert settings["skills"] == {"external_dirs": []}


def test_the_same_skills_by_another_path_are_not_added_again(home: Path) -> None:
    folder = home / "plugins" / "cortex" / "skills"
    text = f"plugins:\n  enabled: [cortex]\nskills:\n  external_dirs: ['{folder}']\n"
    (home / "config.yaml").write_text(text)
    assert not host_config.enabling(home).is_needed


# The command


@pytest.fixture
def run(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    for name in ("CORTEX_CONFIG", "WIKI_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()

    def run(*arguments: str) -> tuple[int, str, str]:
        return main(list(arguments)), *capsys.readouterr()

    return run


def test_init_with_enable_writes_both_configs_and_again_changes_neither(
    run: Callable[..., tuple[int, str, str]], home: Path, tmp_path: Path
) -> None:
    assert run("init", "--vault", "notes", "--enable") == (
        0,
        f"vault: {tmp_path}/notes (from --vault)\n"
        f"wrote the config: {home}/cortex/config.yaml\n"
        f"Cortex is turned on in {home}/config.yaml\n"
        "next: cortex index\n"
        "running sessions, the gateway too, keep the old settings until they restart\n",
        "",
    )
    assert yaml.safe_load((home / "config.yaml").read_text())["plugins"] == ON
    before = snapshot(home)
    assert run("init", "--enable") == (  # the vault is that of the config
        0,
        f"vault: {tmp_path}/notes (from existing config)\n"
        f"is there already: the config: {home}/cortex/config.yaml\n"
        f"Cortex is turned on in {home}/config.yaml already\n"
        "next: cortex index\n",
        "",
    )
    assert snapshot(home) == before


def test_init_shows_on_a_dry_run_what_it_would_change_with_keys_masked(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    (home / "config.yaml").write_text("model:\n  api_key: sk-proj-abcdefGHIJKL0123456789mnop\n")
    before = snapshot(home)
    code, out, err = run("init", "--vault", "notes", "--enable", "--dry-run")
    assert (code, err) == (0, "")
    assert "\n+plugins:\n+  enabled:\n+    - cortex\n" in out
    assert "api_key: " in out and "abcdefGHIJKL" not in out
    assert snapshot(home) == before


def test_init_without_enable_says_how_and_leaves_the_hosts_config_alone(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    (home / "config.yaml").write_text("a: 1\n")
    _, out, _ = run("init", "--vault", "notes")
    assert out.endswith("next: cortex index\nto have it in Hermes too: cortex init --enable\n")
    assert (home / "config.yaml").read_text() == "a: 1\n"
    run("init", "--enable")
    assert "to have it in Hermes" not in run("init")[1]


def test_init_with_a_hosts_config_that_is_broken_writes_nothing_at_all(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    (home / "config.yaml").write_text("plugins: [\n")
    before = snapshot(home)
    code, out, err = run("init", "--vault", "notes", "--enable")
    assert (code, out) == (1, "")
    assert err.startswith(f"cortex: {home}/config.yaml: line 2: ")
    assert snapshot(home) == before


def test_init_never_touches_what_the_host_remembers(
    run: Callable[..., tuple[int, str, str]], home: Path
) -> None:
    (home / "memories").mkdir()
    kept = [home / "SOUL.md", home / "memories" / "MEMORY.md", home / "memories" / "USER.md"]
    for file in kept:
        file.write_text("mine")
    run("init", "--vault", "notes", "--enable")
    assert [file.read_text() for file in kept] == ["mine"] * 3


def test_init_tells_of_a_plugin_that_the_host_does_not_find_and_of_a_config_it_does_not_read(
    run: Callable[..., tuple[int, str, str]],
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cortex.ops.plugin_folder.is_found", lambda home: False)
    code, out, _ = run("init", "--vault", "notes", "--enable", "--config", "other.yaml")
    assert code == 0
    assert f"Hermes does not find Cortex in {home} yet; run ./install.sh in the checkout\n" in out
    assert f"only with CORTEX_CONFIG={tmp_path}/other.yaml in its environment\n" in out


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        os.path.relpath(path, folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }

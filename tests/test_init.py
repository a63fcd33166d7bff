"""`cortex init --enable`: Cortex turned on in the host's config.yaml, all else left as it is."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cortex.cli import main
from cortex.errors import CortexError
from cortex.ops import homes, host_config

ON = {"enabled": ["cortex"]}
CHECKOUT = Path(__file__).resolve().parent.parent


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


@pytest.fixture
def linked(home: Path, tmp_path: Path) -> Path:
    """The home with the plugin as a link in it."""
    place = home / "plugins" / "cortex"
    place.rename(tmp_path / "checkout")
    place.symlink_to(tmp_path / "checkout")
    return home


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# empty\n",
        "a: 1\n",
        "a: 1\r\n",
        "plugins:\n  enabled: [a]\n",
        "plugins:\n  enabled: []\n",
        "plugins:\n  enabled:\n  - a   # one\n  # two\n",
        "plugins:\n    entries: {x: 1}  # kept\nb: 2\n",
        "plugins: {disabled: [b]}\nskills: {external_dirs: [x]}\n",
        "skills:\n  # mine\n  creation_nudge_interval: 3\nplugins:\n  disabled: [b]\n",
        '{\n  "a": 1\n}\n',
        '{"a": 1, "plugins": {"x": 2}}',
        "{}",
    ],
)
def test_disabling_gives_back_what_was_there_before_enabling(linked: Path, text: str) -> None:
    file = linked / "config.yaml"
    file.write_bytes(text.encode())
    host_config.write(host_config.enabling(linked))
    host_config.write(host_config.disabling(linked))
    assert file.read_bytes().decode() == text
    assert not host_config.disabling(linked).is_needed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("plugins:\n  enabled:\n    - cortex\n", ""),
        ("plugins:\n  # mine\n  enabled:\n    - cortex\n",
         "plugins:\n  # mine\n  enabled: []\n"),
        ("plugins:\n  enabled:\n    - cortex\n  # - web\na: 1\n",
         "plugins:\n  enabled: []\n  # - web\na: 1\n"),
        ("plugins:\n  enabled:\n    - cortex\n# of a\na: 1\n", "# of a\na: 1\n"),
        ("plugins: {enabled: [cortex]}\n", ""),
        ("plugins: &p\n  enabled:\n    - cortex\nb: *p\n", None),
    ],
)  # fmt: skip
def test_what_disabling_leaves_of_lists_that_others_wrote(
    linked: Path, before: str, after: str | None
) -> None:
    (linked / "config.yaml").write_text(before)
    if after is None:
        with pytest.raises(CortexError, match=r"edit plugins\.enabled in it by hand"):
            host_config.disabling(linked)
    else:
        assert host_config.disabling(linked).after == after


def test_a_plugin_folder_that_stays_keeps_the_list_that_has_it_off(home: Path) -> None:
    (home / "config.yaml").write_text("plugins:\n  enabled:\n    - cortex\n")
    assert host_config.disabling(home).after == "plugins:\n  enabled: []\n"


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
    (tmp_path / "notes" / "bees.md").write_text("# Bees\n")

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
        "WIKI_PATH is not set; only init ever reads it\n"
        f"Cortex is turned on in {home}/config.yaml\n"
        "next: cortex model fetch\n"
        "running sessions, the gateway too, keep the old settings until they restart\n",
        "",
    )
    assert yaml.safe_load((home / "config.yaml").read_text())["plugins"] == ON
    before = snapshot(home)
    assert run("init", "--enable") == (  # the vault is that of the config
        0,
        f"vault: {tmp_path}/notes (from existing config)\n"
        f"kept the config: {home}/cortex/config.yaml\n"
        "WIKI_PATH is not set; only init ever reads it\n"
        f"Cortex is turned on in {home}/config.yaml already\n"
        "next: cortex model fetch\n",
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
    assert out.endswith(
        "next: cortex model fetch\nnot on in Hermes yet: the plugin and the skills of Cortex; "
        "to turn it on: cortex init --enable\n"
    )
    assert (home / "config.yaml").read_text() == "a: 1\n"
    # As `hermes plugins install --enable` leaves it.
    (home / "config.yaml").write_text("plugins:\n  enabled:\n  - cortex\n")
    assert "not on in Hermes yet: the skills of Cortex; to turn it on: " in run("init")[1]
    run("init", "--enable")
    assert "not on in Hermes" not in run("init")[1]


def test_init_where_hermes_has_no_config_offers_nothing(
    run: Callable[..., tuple[int, str, str]],
) -> None:
    assert run("init", "--vault", "notes")[1].endswith("next: cortex model fetch\n")


def test_init_names_the_first_step_that_is_left(
    run: Callable[..., tuple[int, str, str]], home: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes" / "a.md").write_text("# Bees\n")
    (home / "cortex").mkdir()
    (home / "cortex" / "config.yaml").write_text(
        f"vault: {{path: {tmp_path}/notes}}\nembeddings: {{model: hashing}}\n"
    )
    for step in (["index"], ["embed"], ["graph", "build"]):
        assert run("init")[1].endswith(f"\nnext: cortex {' '.join(step)}\n")
        assert run(*step, "--quiet")[0] == 0
    assert "next:" not in run("init")[1]


def test_from_a_python_that_hermes_does_not_run_in_nothing_is_turned_on(
    run: Callable[..., tuple[int, str, str]], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cortex.ops.plugin_folder.HOST", "not-installed-here")
    (home / "config.yaml").write_text("a: 1\n")
    (home / "plugins" / "cortex" / "plugin.yaml").unlink()
    before = snapshot(home)
    code, out, err = run("init", "--vault", "notes", "--enable")
    assert (code, out) == (2, "")
    assert err.startswith(f"cortex: Hermes would not find Cortex: it is not in {home}/plugins/")
    assert "run ./install.sh --enable in a checkout, or leave --enable out" in err
    assert snapshot(home) == before

    assert run("init", "--vault", "notes")[1].endswith(
        "to have it in Hermes too: ./install.sh --enable, or a shell hook (README)\n"
    )
    # With the plugin there, any Python may turn it on.
    (home / "plugins" / "cortex" / "plugin.yaml").write_text("name: cortex\n")
    assert run("init", "--enable")[0] == 0


def test_a_home_that_is_not_there_is_refused_and_the_near_profile_named(
    run: Callable[..., tuple[int, str, str]],
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (home / "profiles" / "work").mkdir(parents=True)
    for named, said in (
        (home / "profiles" / "wrok", f"did you mean the profile work, {home}/profiles/work?"),
        (home / "profiles" / "x", "make that profile first: hermes profile create x"),
        (tmp_path / "nope", "name the folder that Hermes uses, by HERMES_HOME or --home"),
    ):
        monkeypatch.setenv("HERMES_HOME", str(named))
        code, out, err = run("init", "--vault", "notes", "--enable")
        assert (code, out) == (2, "")
        assert err == f"cortex: there is no Hermes home at {named}; {said}\n"
        assert not named.exists()
    monkeypatch.delenv("HERMES_HOME")
    monkeypatch.setattr("cortex.ops.plugin_folder.has_host", lambda: True)
    assert run("init", "--vault", "notes", "--enable")[0] == 0  # the default one may be new


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


def test_uninstall_keeps_what_another_profile_uses_and_names_it(
    run: Callable[..., tuple[int, str, str]], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = home / "profiles" / "work"
    other.mkdir(parents=True)
    (other / "config.yaml").write_text("plugins: {enabled: [cortex]}\n")
    private = home / "cortex" / "packages" / "cpython-311"
    removed = []
    monkeypatch.setattr(
        "cortex.ops.install.removable", lambda: ({"chromadb": "1.0", "numpy": "2.0"}, [private])
    )
    monkeypatch.setattr("cortex.ops.install.remove", lambda *what: removed.append(what))
    monkeypatch.setattr("cortex.ops.install.remove_folders", lambda what: removed.append(what))
    stays = f"2 packages, as the profile work ({other}) uses Cortex\n"
    _, out, _ = run("install", "--uninstall", "--dry-run")
    assert f"would remove: {private}\nwould keep: {stays}" in out
    assert removed == []
    _, out, _ = run("install", "--uninstall")
    assert f"removed: {private}\nkept: {stays}" in out
    assert f"stays in {home}/plugins/cortex; to remove it: hermes plugins remove cortex\n" in out
    assert removed == [[private]]

    (other / "plugins").mkdir()
    (other / "plugins" / "cortex").symlink_to(CHECKOUT)  # whose private folder it uses
    _, out, _ = run("install", "--uninstall")
    assert f"kept: {private}, {stays}" in out
    assert removed[1:] == [[]]
    (other / "plugins" / "cortex").unlink()

    (other / "config.yaml").write_text("plugins: {enabled: [cortex], disabled: [cortex]}\n")
    _, out, _ = run("install", "--uninstall")
    assert f"removed: {private}, 2 packages\n" in out
    assert removed[2:] == [({"chromadb": "1.0", "numpy": "2.0"}, [private])]


def test_from_a_profile_the_root_home_and_its_other_profiles_count(home: Path) -> None:
    for name in ("work", "play"):
        (home / "profiles" / name).mkdir(parents=True)
    env = {"HOME": str(home.parent)}
    assert homes.beside(home / "profiles" / "work", env) == [
        ("default", home),
        ("play", home / "profiles" / "play"),
    ]
    assert homes.beside(home, env) == [
        ("play", home / "profiles" / "play"),
        ("work", home / "profiles" / "work"),
    ]


def test_a_recorded_home_uses_cortex_while_it_is_there_is_on_or_can_not_be_looked_into(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {name: tmp_path / name / ".hermes" for name in ("linked", "on", "off", "none")}
    for name in ("linked", "on", "off"):
        places[name].mkdir(parents=True)
    (places["linked"] / "plugins").mkdir()
    (places["linked"] / "plugins" / "cortex").symlink_to(CHECKOUT)
    (places["on"] / "config.yaml").write_text("plugins: {enabled: [cortex]}\n")
    (places["off"] / "config.yaml").write_text("plugins: {enabled: []}\n")
    env, recorded = {"HOME": str(home.parent)}, [home.resolve(), *places.values()]
    assert homes.using_cortex(home, env, recorded) == [
        ("default", places["linked"]),
        ("default", places["on"]),
    ]

    def closed(place: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr("cortex.ops.plugin_folder.is_there", closed)
    assert len(homes.using_cortex(home, env, recorded)) == 4


def test_uninstall_takes_no_option_that_installs(run: Callable[..., tuple[int, str, str]]) -> None:
    for option in ("--enable", "--private"):
        assert run("install", "--uninstall", option) == (
            2, "", "cortex: --uninstall takes no option but --dry-run\n"
        )  # fmt: skip


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        os.path.relpath(path, folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_as_json_the_document_is_all_there_is_and_says_what_became_of_hermes(
    run: Callable[..., tuple[int, str, str]], linked: Path
) -> None:
    code, told, said = run("init", "--json", "--enable", "--vault", "notes")
    assert code == 0
    document = json.loads(told)
    assert document["hermes"] == {"config": str(linked / "config.yaml"), "changed": True}
    assert not any(line.startswith(("vault:", "wrote", "next:")) for line in said.splitlines())

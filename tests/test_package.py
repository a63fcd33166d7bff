"""The wheel in an environment that holds nothing else, and the quickstart of the README."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
SCRIPTS = "Scripts" if os.name == "nt" else "bin"

pytestmark = [pytest.mark.slow, pytest.mark.network]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(CHECKOUT)])
    (built,) = folder.glob("*.whl")
    return built


@dataclass(frozen=True)
class Installed:
    """The wheel with its dependencies alone, used from a folder that is not the checkout."""

    folder: Path

    def cortex(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = str(self.folder / "venv" / SCRIPTS / "cortex")
        return run([command, *arguments], cwd=self.folder, env=self.world, code=code)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = str(self.folder / "venv" / SCRIPTS / "python")
        return run([command, *arguments], cwd=self.folder, env=self.world)

    @property
    def world(self) -> Mapping[str, str]:
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("CORTEX_", "HERMES_", "PYTHON"))
        }
        return kept | {"HOME": str(self.folder), "PYTHONUTF8": "1"}


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=True)
    made = Installed(folder)
    made.python("-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    return made


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"cortex/py.typed", "cortex/embedder/minilm.onnx"} <= set(names)
    assert "cortex/skills/cortex-vault/SKILL.md" in names
    points = zipfile.ZipFile(wheel).read("hermes_cortex-0.5.0.dist-info/entry_points.txt")
    assert b"[hermes_agent.plugins]\ncortex = cortex.registration\n" in points
    assert {name.split("/")[0] for name in names} == {"cortex", "hermes_cortex-0.5.0.dist-info"}
    assert not [name for name in names if name.endswith((".pyc", ".safetensors"))]
    on_disk = {
        path.relative_to(CHECKOUT).as_posix()
        for path in (CHECKOUT / "cortex" / "sample").rglob("*")
        if path.is_file()
    }
    assert 25 <= len([name for name in on_disk if name.endswith(".md")]) <= 40
    assert on_disk <= set(names)


def test_the_three_ways_to_call_it_tell_the_version(installed):
    assert installed.cortex("--version").stdout == "cortex 0.5.0\n"
    for module in ("cortex", "cortex.cli"):
        assert installed.python("-m", module, "--version").stdout == "cortex 0.5.0\n"
    source = "import cortex; print(cortex.__version__)"
    assert installed.python("-c", source).stdout == "0.5.0\n"


def test_it_was_installed_without_torch(installed):
    packages = json.loads(installed.python("-m", "pip", "list", "--format=json").stdout)
    names = {package["name"].lower() for package in packages}
    assert "hermes-cortex" in names
    assert names & {"torch", "sentence-transformers", "pytest"} == set()


def test_the_sample_vault_answers_by_its_words_before_there_is_a_model(installed):
    installed.cortex("init", "--sample", "--vault", "notes", "--config", "state/config.yaml")
    installed.cortex("index", "--config", "state/config.yaml")
    asked = ["search", "why did they keep the hemp rope?", "--json"]
    found = installed.cortex(*asked, "--config", "state/config.yaml")
    answer = json.loads(found.stdout)
    assert answer["results"][0]["file"] == "20_decisions/Keep the Hemp Rope.md"
    assert "bm25" in answer["channels"]["ran"]
    assert [missing["what"] for missing in answer["channels"]["unavailable"]] == ["vector", "graph"]
    assert "run: cortex embed" in found.stderr


def test_its_skills_are_put_where_the_host_lists_them(installed):
    # Which is not below any folder that is called site-packages.
    home = installed.folder / ".hermes"
    asked = ["init", "--sample", "--vault", "notes", "--enable"]
    assert "is not the one that Hermes runs in" in installed.cortex(*asked, code=2).stderr
    packages = installed.python("-c", "import sysconfig as s; print(s.get_path('purelib'))").stdout
    host = Path(packages.strip()) / "hermes_agent-0.19.0.dist-info"
    host.mkdir()
    (host / "METADATA").write_text("Metadata-Version: 2.1\nName: hermes-agent\nVersion: 0.19.0\n")
    installed.cortex(*asked)
    assert "external_dirs:\n    - cortex/skills\n" in (home / "config.yaml").read_text()
    names = ["cortex-context", "cortex-diagnose", "cortex-notes", "cortex-vault"]
    assert sorted(path.parent.name for path in home.glob("cortex/skills/*/SKILL.md")) == names

    stale = home / "cortex" / "skills" / "cortex-vault" / "SKILL.md"
    stale.write_text("of an older release")
    installed.cortex("init", "--enable")
    assert "vault_search" in stale.read_text()
    installed.cortex("install", "--uninstall")
    assert not (home / "cortex" / "skills").exists()
    assert (home / "config.yaml").read_text() == ""
    shutil.rmtree(host)


def test_the_model_reports_to_nobody(installed):
    # onnxruntime does from its import on, and leaves the number it goes by in the home.
    config = ["--config", "state/config.yaml"]
    installed.cortex("model", "fetch", *config)
    installed.cortex("embed", *config)
    assert "vector #" in installed.cortex("search", "hemp rope", *config).stdout
    assert not list(installed.folder.rglob("deviceid"))


def test_the_quickstart_goes_all_the_way_and_may_be_run_again(installed):
    # In the same environment, last in this module: it puts the checkout in the wheel's place.
    place = installed.folder / "quick start"
    world = {
        **installed.world,
        "CORTEX_QUICKSTART_DIR": str(place),
        "CORTEX_VENV": str(installed.folder / "venv"),
    }
    script = str(CHECKOUT / "scripts" / "quickstart")
    first = run(["bash", script], env=world)
    steps = ["init --sample", "index", "model fetch", "embed", "graph build", "search", "context"]
    steps += ["search-eval", "graph viewer"]
    shown = [line for line in first.stdout.splitlines() if line.startswith("$ cortex ")]
    assert [step for step, line in zip(steps, shown, strict=True) if step in line] == steps
    assert "\n1. " in first.stdout  # the best hit of the search
    assert "### [^1]" in first.stdout  # the first citation of the context
    assert (place / "graph.html").is_file()

    mine = place / "vault" / "Mine.md"
    mine.write_text("# Mine\n\nA note of my own.\n", "utf-8")
    again = run(["bash", script], env=world)
    assert "keeps it" in again.stdout
    assert mine.exists()


def run(
    command: Sequence[str],
    *,
    cwd: Path = CHECKOUT,
    env: Mapping[str, str] | None = None,
    code: int = 0,
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done

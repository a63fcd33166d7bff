"""The three jobs for the scheduler of Hermes: each as the settings want it to stand there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..config import Config, CronConfig
from ..errors import CortexError

Kind = Literal["maintenance", "nightly", "weekly"]
KINDS: tuple[Kind, ...] = ("maintenance", "nightly", "weekly")  # in the order they are told
SECTION: dict[Kind, str] = {
    "maintenance": "maintenance",
    "nightly": "nightly_promotion",
    "weekly": "weekly_review",
}
DEFAULT_NAME: dict[Kind, str] = {
    "maintenance": "hermes-cortex-maintenance",
    "nightly": "hermes-cortex-nightly-promotion",
    "weekly": "hermes-cortex-weekly-review",
}
# Of the host: leaves out every MCP server, which it would add to the toolsets of a job otherwise.
NO_MCP = "no_mcp"
# What such a model may have. It reads what came out of sessions, that is from anybody, so nothing
# by which it could run a command, write a file or reach out; of a server or plugin nobody knows.
_HARMLESS = ("cortex", "todo", "session_search", NO_MCP)
_STAMP = "# Made by cortex cron install, which writes it anew; stamp "


@dataclass(frozen=True, slots=True)
class Planned:
    """A job as it is to stand in the scheduler."""

    kind: Kind
    name: str
    schedule: str
    deliver: str
    script: str  # the name of its file in `scripts` of the home
    script_text: str
    no_agent: bool  # the script's output is the report: no model is asked
    prompt: str  # "" without a model
    toolsets: tuple[str, ...]  # () without a model


@dataclass(frozen=True, slots=True)
class Found:
    """A job as it stands in the scheduler. None: the way it was asked does not tell."""

    id: str
    name: str
    schedule: str
    deliver: str
    script: str
    no_agent: bool
    prompt: str | None = None
    toolsets: tuple[str, ...] | None = None
    is_paused: bool = False
    next_run: str | None = None
    last_run: str | None = None
    last_status: str | None = None
    last_error: str | None = None
    is_of_cortex: bool = False  # marked as such by an older version

    @property
    def has_run(self) -> bool:
        return self.last_run is not None


def is_enabled(cron: CronConfig, kind: Kind) -> bool:
    return bool(getattr(cron, SECTION[kind]).enabled)


def setting_of(kind: Kind, name: str) -> str:
    return f"cron.{SECTION[kind]}.{name}"


def script_name(kind: Kind) -> str:
    return f"cortex-{kind}.py"


@dataclass(frozen=True, slots=True)
class Runner:
    """What a script is run by."""

    python: str
    prefix: str  # of its environment
    folder: Path  # that holds the package `cortex`


def planned(kind: Kind, config: Config, home: Path, runner: Runner) -> Planned:
    """The job of this kind for the Hermes home `home`, as `config` has it.

    Raises CortexError if the model of the job would get tools that it must not have.
    """
    section = getattr(config.cron, SECTION[kind])
    job = Planned(
        kind=kind,
        name=section.name,
        schedule=section.schedule,
        deliver=section.deliver,
        script=script_name(kind),
        script_text=_script(kind, config.path, home, runner),
        no_agent=True,
        prompt="",
        toolsets=(),
    )
    if kind == "maintenance" or not section.model:
        return job
    too_much = [name for name in section.enabled_toolsets if name not in _HARMLESS]
    if too_much:
        raise CortexError(
            f"{setting_of(kind, 'enabled_toolsets')} has {', '.join(too_much)}: a model that reads "
            "what came out of sessions must not run commands, write files or reach out; "
            f"set it to [cortex] in {config.path}"
        )
    prompt = (Path(__file__).parent / "prompts" / f"{kind}.md").read_text("utf-8").strip()
    toolsets = tuple(dict.fromkeys((*section.enabled_toolsets, NO_MCP)))
    return replace(job, no_agent=False, prompt=prompt, toolsets=toolsets)


def is_ours(text: str) -> bool:
    """Whether a script is one that `planned` made, in this version or another."""
    return text.startswith(_STAMP)


def differences(job: Planned, found: Found, script_text: str | None) -> list[str]:
    """What of a job stands in the scheduler otherwise than planned.

    script_text: of its file as it is; None if there is none.
    """
    pairs: Sequence[tuple[str, object, object]] = (
        ("name", found.name, job.name),
        ("schedule", " ".join(found.schedule.split()), " ".join(job.schedule.split())),
        ("deliver", found.deliver, job.deliver),
        ("script", found.script, job.script),
        ("model", found.no_agent, job.no_agent),
        ("prompt", found.prompt, None if found.prompt is None else job.prompt),
        ("toolsets", found.toolsets, None if found.toolsets is None else job.toolsets),
        ("script file", script_text, job.script_text),
    )
    return [what for what, there, wanted in pairs if there != wanted]


_SCRIPT = '''\
"""{about}

What it prints goes to the chat, or before the model of the job; nothing is printed where there is
nothing to tell. A profile that is renamed takes it along.
"""

import json
import os
import subprocess
import sys

WANTED = json.loads({wanted!r})
# The default config is looked for in the home that this file lies in.
HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONFIG = WANTED["config"] or os.path.join(HOME, "cortex", "config.yaml")

if not os.path.isdir(os.path.join(WANTED["folder"], "cortex")):
    sys.exit("Cortex is no longer in " + WANTED["folder"] + "; run: cortex cron install")
# Two environments may share an interpreter: their prefix tells them apart.
if sys.prefix != WANTED["prefix"] and "CORTEX_CRON_PYTHON" not in os.environ:
    if not os.path.exists(WANTED["python"]):
        sys.exit(WANTED["python"] + " is gone; run: cortex cron install")
    os.environ["CORTEX_CRON_PYTHON"] = "1"
    command = [WANTED["python"], os.path.abspath(__file__)]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)
os.environ.pop("CORTEX_CRON_PYTHON", None)
os.environ["HERMES_HOME"] = HOME
# Not the folder of this file, where a script of another's could be taken for a package.
sys.path[0] = WANTED["folder"]

from pathlib import Path

from cortex.cli import main
from cortex.commands import in_host
from cortex.home import default_home

program = in_host(Path(HOME), default_home(os.environ))
sys.exit(main(["cron", "run", WANTED["job"], "--config", CONFIG, "--quiet"], program))
'''


def _script(kind: Kind, config: Path, home: Path, runner: Runner) -> str:
    is_default = config == home / "cortex" / "config.yaml"
    wanted = {
        "job": kind,
        "config": None if is_default else str(config),
        "python": runner.python,
        "prefix": runner.prefix,
        "folder": str(runner.folder),
    }
    text = _SCRIPT.format(about=f"The job {kind} of Cortex.", wanted=json.dumps(wanted))
    return f"{_STAMP}{hashlib.sha256(text.encode()).hexdigest()[:16]}\n{text}"

"""The check-up of one installation: which checks there are, what --fix does, and the report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .checks.doctor import (
    BUILDERS,
    REFILL,
    Check,
    Finding,
    distinct,
    examine,
    examined,
    summary,
    why,
)
from .checks.status import next_commands
from .errors import ConfigError
from .home import chosen, hermes_home
from .ops.doctor_python import packages, python
from .ops.packages import activate_private_packages, requirements
from .types import Json

if TYPE_CHECKING:
    from .app import Cortex

_ROUNDS = 3  # what a fix brings to light may need another


@dataclass(slots=True)
class CheckUp:
    """What was found, worst first within each check, and what was mended before."""

    findings: list[Finding]
    config: Path
    fixed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # what --fix tried -> why it failed
    seconds: float = 0.0

    @property
    def is_sound(self) -> bool:
        return not any(finding.level == "problem" for finding in self.findings)

    def next(self) -> list[str]:
        """The commands that mend what was found, in the order to run them, each once."""
        wanted = [f.command for f in self.findings if f.command and f.level != "info"]
        return next_commands([f"mend; run: {command}" for command in dict.fromkeys(wanted)])

    def record(self) -> dict[str, Json]:
        """The document of `cortex doctor --json`."""
        return {
            "sound": self.is_sound,
            "config": str(self.config),
            "counts": summary(self.findings),
            "findings": [finding.record() for finding in self.findings],
            "fixed": self.fixed,
            "failed": self.failed,
            "next": self.next(),
            "seconds": round(self.seconds, 3),
        }


def check_up(
    config: str | os.PathLike[str] | None,
    env: Mapping[str, str],
    *,
    fix: bool = False,
    quick: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> CheckUp:
    """Run every check there is; a config that is wrong, or a package that is missing, ends none.

    config: as Cortex.open. fix: do what is safe about what was found, and check again: build, fill
    Chroma again, remove what killed runs left, copy skills that are not of this version. Neither
    the vault nor any settings are touched. quick: read no records, load no model, ask no store.
    tell: called with each fix before it is done.
    """
    began = time.perf_counter()
    activate_private_packages()
    result = CheckUp([], chosen(config, env))
    for _ in range(_ROUNDS if fix else 1):
        result.findings = _examined(config, env, quick)
        todo = _fixes(result.findings, set(result.failed))
        if not fix or not todo:
            break
        for name in todo:
            tell(name)
            try:
                _mend(name, config, env)
                if name not in result.fixed:
                    result.fixed.append(name)
            except Exception as error:  # the guard: one that fails must not end the report
                result.failed[name] = why(error)
    else:
        if fix:
            result.findings = _examined(config, env, quick)
    result.seconds = time.perf_counter() - began
    return result


def _examined(
    config: str | os.PathLike[str] | None, env: Mapping[str, str], quick: bool
) -> list[Finding]:
    home = hermes_home(env)
    first = [
        Check("python", "version", python),
        Check("python", "packages", lambda: packages(requirements(), quick=quick)),
    ]
    opened: list[Cortex] = []

    def open_config() -> Sequence[Finding]:
        from .app import Cortex
        from .checks import doctor_vault

        try:
            settings = Cortex.open(config, env=env).config
        except ConfigError as error:
            return list(doctor_vault.config_faults(chosen(config, env), error))
        # A check-up never fetches a model, which may be gigabytes.
        here = replace(settings.embeddings, local_files_only=True)
        opened.append(Cortex.open(replace(settings, embeddings=here), env=env))
        return list(doctor_vault.config_file(settings, env))

    findings = examine([*first, Check("config", "file", open_config)])
    if opened:
        findings += examine(_about_vault(opened[0], env, quick))
        findings += _about_search(opened[0], findings, quick)
    findings += examine(_about_host(opened, home, env))
    order = list(dict.fromkeys(finding.group for finding in findings))
    return sorted(distinct(findings), key=lambda finding: order.index(finding.group))


def _about_vault(cortex: Cortex, env: Mapping[str, str], quick: bool) -> list[Check]:
    from .checks import doctor_artifacts as built
    from .checks import doctor_chroma, doctor_model, doctor_vault
    from .ops import doctor_upkeep

    config, state, rules = cortex.config, cortex.state, cortex.rules

    def model() -> dict[str, Json]:
        return next(row for row in cortex.models() if row["chosen"])

    deep = Check("vault", "frontmatter", lambda: doctor_upkeep.frontmatter(config, rules))
    return [
        Check(
            "config",
            "settings",
            lambda: doctor_vault.settings(config, cortex.lifecycle_rows(env), model()),
        ),
        Check("vault", "notes", lambda: doctor_vault.vault(config, rules)),
        Check("vault", "wiki", lambda: doctor_upkeep.wiki(config, rules)),
        Check("vault", "promotion", lambda: doctor_upkeep.promotion(state)),
        Check("state", "folder", lambda: built.state_folder(state, config.vault.path)),
        Check("state", "runs", lambda: built.runs(state)),
        Check("index", "index", lambda: built.index(state, config, rules, quick=quick)),
        Check("vault", "as read", lambda: doctor_vault.notes_as_read(state, config)),
        Check(
            "model",
            "weights",
            lambda: doctor_model.weights(config, model(), cortex.verify_model),
        ),
        Check(
            "vectors",
            "vectors",
            lambda: built.vectors(state, config, model()["name"], quick=quick),
        ),
        Check("vectors", "chroma", lambda: doctor_chroma.store(state, config, env, quick=quick)),
        Check("graph", "graph", lambda: built.graph(state, quick=quick)),
        Check("graph", "links", lambda: built.links(state)),
        *([] if quick else [deep]),
    ]


def _about_search(cortex: Cortex, findings: Sequence[Finding], quick: bool) -> list[Finding]:
    """The model and a real search; what is broken below would only be told again."""
    from .checks import doctor_model

    if quick:
        return []
    broken = {f.group for f in findings if f.level == "problem"}
    found: list[Finding] = []
    has_vectors = (cortex.state.root / "vectors.json").exists()
    asks_vectors = cortex.config.search.vector_weight > 0 or has_vectors
    if asks_vectors and "model" not in broken and "python" not in broken:
        look = Check(
            "model",
            "embedding",
            lambda: doctor_model.embedding(cortex.state, cortex.rules, cortex.embedder),
        )
        found += examined(look)
        broken |= {f.group for f in found if f.level == "problem"}
    if not broken & {"python", "vault", "state", "index", "model", "vectors", "graph"}:
        look = Check(
            "search",
            "search",
            lambda: doctor_model.search(
                lambda text: cortex.search(text, top_k=3),
                cortex.config,
                cortex.state,
                cortex.rules,
            ),
        )
        found += examined(look)
    return found


def _about_host(opened: Sequence[Cortex], home: Path, env: Mapping[str, str]) -> list[Check]:
    from .ops import doctor_host, doctor_upkeep

    checks = [
        Check("hermes", "wiring", lambda: doctor_host.host(home, env)),
        Check("hermes", "profiles", lambda: doctor_host.profiles(home, env)),
    ]
    for cortex in opened:
        look = partial(doctor_upkeep.jobs, cortex.config, home, env)
        checks.append(Check("hermes", "jobs", look))
    return checks


def _fixes(findings: Sequence[Finding], failed: set[str]) -> list[str]:
    """What `--fix` does about findings, each once, in the order that it must have."""
    wanted = dict.fromkeys(f.fix for f in findings if f.fix and f.fix not in failed)
    built = next_commands([f"mend; run: {name}" for name in wanted if name.startswith(BUILDERS)])
    others = [name for name in wanted if not name.startswith(BUILDERS)]
    if any(step.startswith("cortex embed") for step in built) and REFILL in others:
        others.remove(REFILL)  # it fills Chroma as well, and only of sound vectors can it be done
    return others + [step for step in built if step not in failed]


def _mend(name: str, config: str | os.PathLike[str] | None, env: Mapping[str, str]) -> None:
    from .app import Cortex
    from .ops import plugin_folder
    from .ops.doctor_host import COPY_SKILLS

    cortex, is_forced = Cortex.open(config, env=env), name.endswith(" --force")
    if name == COPY_SKILLS:
        plugin_folder.copy_skills(hermes_home(env))
    elif name == REFILL:
        with cortex.state.lock():
            # Without it nobody knows what Chroma holds, and embedding fills it anew.
            (cortex.state.root / "chroma.json").unlink(missing_ok=True)
        cortex.embed()
    elif name.startswith("cortex index"):
        cortex.index(is_forced)
    elif name.startswith("cortex embed"):
        cortex.embed(is_forced)
    elif name.startswith("cortex graph build"):
        cortex.build_graph()
    else:
        with cortex.state.lock():  # whoever takes it removes what killed runs left
            pass

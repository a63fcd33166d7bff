"""`hermes cortex pack` over what the real Hermes Agent writes, for the profile that asks."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from host_driver import CHECKOUT
from test_host import asked, configure, opened

__all__ = ["opened"]  # a fixture

pytestmark = [
    pytest.mark.host,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the driver's hermes is a script of a POSIX system"),
]

SETTINGS = "embeddings: {model: hashing}\n"
NOTES = {"pump.md": "---\ntype: fact\n---\nThe pump holds 1.5 bar.\n"}


def packed(run: Any) -> dict[str, Any]:
    assert run.returncode == 0, run.stdout + run.stderr
    document: dict[str, Any] = json.loads(run.stdout)
    return document


def said(document: dict[str, Any]) -> list[str]:
    return [item["text"] for item in document["sections"][3]["items"]]


def test_each_profile_packs_its_own_sessions_by_option_or_by_hermes_itself(
    tmp_path: Path, opened: Any
):
    home = tmp_path / "home"
    configure(home, SETTINGS, NOTES)
    work = home / "profiles" / "work"
    configure(work, SETTINGS, NOTES)
    (work / "plugins").mkdir()
    (work / "plugins" / "cortex").symlink_to(CHECKOUT)
    with opened(home) as host:
        asked(host.turn("How high is the quince tree?"))
        shutil.copy(home / "config.yaml", work / "config.yaml")
        asked(host.hermes("-p", "work", "chat", "-Q", "-q", "How deep is the quarry?"))
        own = packed(host.hermes("cortex", "pack", "build", "--quiet"))
        named = packed(host.hermes("cortex", "pack", "build", "--quiet", "--of-profile", "work"))
        taken = packed(host.hermes("cortex", "pack", "build", "--quiet", "--profile", "work"))
        on = packed(host.hermes("cortex", "pack", "build", "--quiet", "--query", "quince tree"))
        off = host.hermes("cortex", "pack", "build", "--query", "quarry", "--quiet")
        unknown = host.hermes("cortex", "pack", "build", "--of-profile", "nobody")
    assert own["profile"] == "default" and named["profile"] == taken["profile"] == "work"
    assert own["sections"][0]["items"][0]["text"] == "pump: The pump holds 1.5 bar."
    assert len(said(own)) == 1 and "quarry" not in json.dumps(own)
    assert said(named) == said(taken) != [] and "quince" not in json.dumps(named)
    assert "How high is the quince tree?" in said(on)[0]
    assert said(packed(off)) == []
    assert unknown.returncode == 2
    assert "there are default, work" in unknown.stderr

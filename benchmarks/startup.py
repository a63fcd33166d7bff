"""What the plugin adds to the starts of Hermes: commands with and without it, side by side.

    python benchmarks/startup.py [--runs 11] [--host ../shared/host] [--hermes PATH]

Each command runs in turn in a home without the plugin and in homes with it, so that a busy moment
of the machine falls on all alike. Told are medians: seconds on the clock, seconds of the
processor (of the command and its children), and what is added to the home without the plugin.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "tests"))

from host_driver import write_hermes  # noqa: E402

COMMANDS = {
    "--version": ["--version"],
    "cortex --help": ["cortex", "--help"],  # loads all plugins, also where there is no such command
    "cortex search": ["cortex", "search", "bees"],
    "chat": ["chat", "-Q", "-q", "Where do the hives stand?"],
}
VAULTS = {
    "plugin": None,  # nothing configured
    "plugin + index": "",
    "plugin + index + dynamic": "hooks: {dynamic_context: {enabled: true}}\n",
}
NOTE = "# Bees {0}\n\nThe hives of year {0} stand behind the mill. See [[Bees {1}]].\n"


@dataclass
class Times:
    clock_s: list[float] = field(default_factory=list)
    processor_s: list[float] = field(default_factory=list)


def measure(host: object, words: list[str], times: Times) -> None:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [host.executable, *words],  # type: ignore[attr-defined]
        env=host.env,  # type: ignore[attr-defined]
        cwd=host.home,  # type: ignore[attr-defined]
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    times.clock_s.append(time.perf_counter() - began)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    times.processor_s.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def build(host: object, settings: str, notes: int) -> None:
    home: Path = host.home  # type: ignore[attr-defined]
    (home / "vault").mkdir()
    (home / "cortex").mkdir()
    for number in range(notes):
        text = NOTE.format(number, (number * 7) % notes)
        (home / "vault" / f"Bees {number}.md").write_text(text, "utf-8")
    config = f"vault: {{path: '{home / 'vault'}'}}\nembeddings: {{model: hashing}}\n{settings}"
    (home / "cortex" / "config.yaml").write_text(config, "utf-8")
    for words in (["index"], ["embed"], ["graph", "build"]):
        done = host.hermes("cortex", *words)  # type: ignore[attr-defined]
        assert done.returncode == 0, done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--only", choices=COMMANDS, help="measure this command alone")
    parser.add_argument("--host", type=Path, default=CHECKOUT.parent / "shared" / "host")
    parser.add_argument("--hermes", help="an executable; by default that of this Python")
    args = parser.parse_args()
    commands = {args.only: COMMANDS[args.only]} if args.only else COMMANDS
    sys.path.insert(0, str(args.host))
    from run_host import Host

    folder = Path(tempfile.mkdtemp(prefix="cortex-startup-"))
    hermes = args.hermes or str(write_hermes(folder / "hermes"))
    hosts = {}
    try:
        for name in ("none", *VAULTS):
            home = folder / name.replace(" ", "-")
            home.mkdir()
            fresh = {"ts": time.time(), "behind": 0, "rev": None}
            (home / ".update_check").write_text(json.dumps(fresh), "utf-8")
            plugins = [] if name == "none" else [CHECKOUT]
            host = Host(plugins, hermes=hermes, home=home, env={"HOME": str(home)})
            host.llm.start()
            hosts[name] = host
            if VAULTS.get(name) is not None:
                build(host, VAULTS[name] or "", args.notes)
        times = {name: {command: Times() for command in commands} for name in hosts}
        for run in range(args.runs + 1):
            for command, words in commands.items():
                for name, host in hosts.items():
                    warm_up = Times()  # the first run compiles modules and fills the disk's cache
                    measure(host, words, times[name][command] if run else warm_up)
    finally:
        for host in hosts.values():
            host.llm.stop()
        shutil.rmtree(folder, ignore_errors=True)

    print(
        f"{args.runs} runs, {os.cpu_count()} processors, {args.notes} notes where there is an index"
    )
    print(
        f"{'command':15} {'home':26} {'clock s':>8} {'added':>8} {'cpu s':>8} {'added':>8} {'x':>6}"
    )
    for command in commands:
        plain = times["none"][command]
        for name in hosts:
            taken = times[name][command]
            clock, cpu = map(statistics.median, (taken.clock_s, taken.processor_s))
            without, cpu_without = map(statistics.median, (plain.clock_s, plain.processor_s))
            print(
                f"{command:15} {name:26} {clock:8.3f} {clock - without:+8.3f} "
                f"{cpu:8.3f} {cpu - cpu_without:+8.3f} {clock / without:6.2f}"
            )


if __name__ == "__main__":
    main()

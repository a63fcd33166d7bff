"""`cortex wiki-health`: the contract of folders, root files and sources, held against a vault."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from cortex import Cortex
from cortex.checks.wiki import WikiReport
from cortex.cli import main
from cortex.desk import Desk
from cortex.errors import UsageError

FOLDERS = (
    *("00_inbox", "10_facts", "20_decisions", "30_projects", "40_runbooks", "50_people"),
    *("60_maps", "80_templates"),
    *("raw/articles", "raw/papers", "raw/transcripts", "raw/assets"),
)
ROOT_FILES = ("SCHEMA.md", "index.md", "log.md")
CURATED = ", exclude_folders: [raw, 00_inbox, 80_templates]"
BODY = "# Tides\n\nThey rise.\n"


def source(body: str = BODY, **properties: str | None) -> str:
    given = {
        "source_url": "https://example.org/tides",
        "ingested": "2026-01-02",
        "sha256": sha256(body.removeprefix("\n").encode()).hexdigest(),
        **properties,
    }
    lines = [f"{name}: {value}\n" for name, value in given.items() if value is not None]
    return f"---\n{''.join(lines)}---\n{body}"


@pytest.fixture
def desk_over(tmp_path: Path):
    """A Desk over a vault in tmp_path/vault that keeps the contract, and these files."""

    def make(files: dict[str, str | bytes], settings: str = CURATED) -> Desk:
        vault = tmp_path / "vault"
        for folder in FOLDERS:
            (vault / folder).mkdir(parents=True, exist_ok=True)
        (vault / "raw" / "README.md").write_text("What lies here.\n", "utf-8")
        for name in ROOT_FILES:
            (vault / name).write_text("# Root\n", "utf-8")
        for path, text in files.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        config = tmp_path / "state" / "config.yaml"
        config.parent.mkdir(exist_ok=True)
        config.write_text(f"vault: {{path: '{vault}'{settings}}}\n", "utf-8")
        return Desk(Cortex.open(config, env={}))

    return make


def told(report: WikiReport) -> list[tuple[str, str, str]]:
    return [(issue.severity, issue.code, issue.path) for issue in report.issues]


def test_a_vault_that_keeps_the_contract_gives_an_empty_report(desk_over, tmp_path):
    desk = desk_over({"raw/articles/tides.md": source(), "raw/assets/map.png": b"\x89PNG"})
    assert desk.wiki_health().document() == {
        "config_path": str(tmp_path / "state" / "config.yaml"),
        "vault_path": str(tmp_path / "vault"),
        "ok": True,
        "error_count": 0,
        "warning_count": 0,
        "issue_count": 0,
        "issues": [],
    }


def test_each_root_file_and_folder_that_is_missing_is_an_error_with_its_remedy(desk_over, tmp_path):
    desk = desk_over({})
    vault = tmp_path / "vault"
    (vault / "SCHEMA.md").unlink()
    (vault / "log.md").unlink()
    (vault / "log.md").mkdir()
    (vault / "raw" / "papers").rmdir()
    (vault / "60_maps").rmdir()
    (vault / "60_maps").write_text("a file", "utf-8")
    report = desk.wiki_health()
    assert told(report) == [
        ("error", "missing_cortex_folder", "60_maps"),
        ("error", "missing_raw_folder", "raw/papers"),
        ("error", "missing_root_file", "SCHEMA.md"),
        ("error", "missing_root_file", "log.md"),
    ]
    assert [issue.message for issue in report.issues] == [
        "the folder 60_maps is a file, not a folder; move it away and run: cortex init --scaffold",
        "the folder raw/papers is missing; run: cortex init --scaffold",
        "the root file SCHEMA.md is missing; run: cortex init --scaffold",
        "the root file log.md is a folder, not a file; move it away and "
        "run: cortex init --scaffold",
    ]


def test_what_init_would_not_make_is_told_with_what_does(desk_over, tmp_path):
    desk = desk_over({})
    vault = tmp_path / "vault"
    (vault / "log.md").rename(vault / "LOG.md")
    (vault / "raw" / "papers").rmdir()
    (vault / "raw").rename(vault / "sources")
    (vault / "raw").symlink_to("sources")
    if (vault / "log.md").exists():
        pytest.skip("here names that differ in case alone are one")
    assert [issue.message for issue in desk.wiki_health().issues] == [
        f"the folder raw/papers is missing; make it in {vault}/sources",
        "the root file log.md is missing; rename LOG.md",
    ]


def test_an_empty_vault_lacks_fifteen_things(desk_over, tmp_path):
    import shutil

    desk = desk_over({})
    shutil.rmtree(tmp_path / "vault")
    (tmp_path / "vault").mkdir()
    assert len(desk.wiki_health().issues) == 3 + 8 + 4


def test_without_a_vault_nothing_else_is_asked(desk_over, tmp_path):
    import shutil

    desk = desk_over({})
    shutil.rmtree(tmp_path / "vault")
    assert told(desk.wiki_health()) == [("error", "vault_missing", str(tmp_path / "vault"))]
    (tmp_path / "vault").write_text("a file", "utf-8")
    assert told(desk.wiki_health()) == [("error", "vault_not_directory", str(tmp_path / "vault"))]


def test_settings_that_name_no_vault_are_asked_wrongly(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("embeddings: {model: hashing}\n", "utf-8")
    with pytest.raises(UsageError, match="names no vault"):
        Desk(Cortex.open(config, env={})).wiki_health()


@pytest.mark.parametrize(
    ("settings", "drifting"),
    [
        (CURATED, []),
        ("", ["00_inbox", "80_templates", "raw"]),
        (", include_folders: [10_facts, 60_maps]", []),
        (", include_folders: [10_facts, raw]", ["raw"]),
        (", include_folders: [10_facts, raw/papers]", ["raw"]),
        (", include_folders: ['*_inbox', '8*']", ["00_inbox", "80_templates"]),
        (", exclude_folders: [raw, 00_inbox]", ["80_templates"]),
        (", exclude_folders: ['raw/articles', '[08]0_*']", ["raw"]),
        (", exclude_folders: ['raw/**', '**/00_inbox', '80_*']", []),
        (", include_folders: ['raw/other/kept.md']", ["raw"]),
    ],
)
def test_folders_that_hold_no_curated_notes_are_not_to_be_indexed(desk_over, settings, drifting):
    desk = desk_over({"raw/other/kept.md": source()}, settings)
    report = desk.wiki_health()
    assert told(report) == [("error", "config_curated_source_drift", name) for name in drifting]
    for issue in report.issues:
        assert f"add {issue.path} to vault.exclude_folders" in issue.message


@pytest.mark.parametrize(
    ("text", "severity", "code"),
    [
        (BODY, "warning", "missing_frontmatter"),
        (source(source_url=None), "warning", "missing_source_url"),
        (source(source_url=""), "warning", "missing_source_url"),
        (source(source_url="example.org/x"), "warning", "invalid_source_url"),
        (source(source_url="file:///etc/hosts"), "warning", "invalid_source_url"),
        (source(source_url="https://"), "warning", "invalid_source_url"),
        (source(source_url="'http://[::1'"), "warning", "invalid_source_url"),
        (source(ingested=None), "warning", "missing_ingested"),
        (source(ingested="yesterday"), "warning", "invalid_ingested"),
        (source(ingested="2026-02-30"), "warning", "invalid_ingested"),
        (source(ingested="20260102"), "warning", "invalid_ingested"),
        (source(sha256=None), "warning", "missing_sha256"),
        (source(sha256="abc"), "warning", "invalid_sha256"),
        (source(sha256="z" * 64), "warning", "invalid_sha256"),
        (source(sha256="0" * 64), "error", "sha256_drift"),
        (source().encode("utf-16"), "error", "decode_error"),
        (source("Müller").encode("latin-1"), "error", "decode_error"),
        (bytes(range(256)) * 40, "error", "decode_error"),
    ],
)
def test_a_source_that_does_not_say_where_it_comes_from_or_was_changed_is_told(
    desk_over, text, severity, code
):
    report = desk_over({"raw/papers/a.md": text}).wiki_health()
    assert told(report) == [(severity, f"raw_source_{code}", "raw/papers/a.md")]


@pytest.mark.parametrize(
    "text",
    [
        source(),
        source("\n" + BODY),
        source(ingested="2026-01-02T10:00:00Z"),
        source(sha256=sha256(BODY.encode()).hexdigest().upper()),
        source().replace("\n", "\r\n"),
        source().replace("\n", "\r"),
        "\ufeff" + source(),
        source(""),
        source("Grüße 時計\n"),
    ],
)
def test_the_hash_is_of_the_body_with_plain_line_ends_and_without_one_at_its_start(desk_over, text):
    assert desk_over({"raw/articles/a.md": text}).wiki_health().issues == ()


def test_a_second_line_end_at_the_start_belongs_to_the_body(desk_over):
    text = source(sha256=sha256(BODY.encode()).hexdigest()).replace(BODY, "\n\n" + BODY)
    report = desk_over({"raw/a.md": text}).wiki_health()
    assert [issue.code for issue in report.issues] == ["raw_source_sha256_drift"]


def test_drift_names_both_hashes_and_writing_the_new_one_mends_it(desk_over):
    changed = source().replace("They rise.", "They fall.")
    (issue,) = desk_over({"raw/a.md": changed}).wiki_health().issues
    actual = sha256(BODY.replace("rise", "fall").encode()).hexdigest()
    assert issue.details == {"expected": sha256(BODY.encode()).hexdigest(), "actual": actual}
    assert issue.message.endswith(f"if the change is meant write `sha256: {actual}`")
    mended = changed.replace(str(issue.details["expected"]), actual)
    assert desk_over({"raw/a.md": mended}).wiki_health().issues == ()


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
def test_links_out_of_the_vault_are_not_followed(desk_over, tmp_path):
    desk = desk_over({})
    vault = tmp_path / "vault"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret", "utf-8")
    (vault / "raw" / "papers" / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (vault / "log.md").unlink()
    (vault / "log.md").symlink_to(tmp_path / "outside" / "secret.md")
    (vault / "index.md").unlink()
    (vault / "index.md").symlink_to(vault / "nowhere.md")
    (vault / "10_facts").rmdir()
    (vault / "10_facts").symlink_to(tmp_path / "outside")
    report = desk.wiki_health()
    assert [(issue.path, issue.message.partition("; ")[0]) for issue in report.issues] == [
        ("10_facts", "the folder 10_facts is a link that leads out of the vault"),
        ("index.md", "the root file index.md is a link that leads nowhere"),
        ("log.md", "the root file log.md is a link that leads out of the vault"),
    ]


def test_a_source_that_the_system_refuses_is_an_error_and_not_the_end(desk_over, monkeypatch):
    desk = desk_over({"raw/a.md": source(), "raw/b.md": BODY})
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert told(desk.wiki_health()) == [
        ("error", "raw_source_read_error", "raw/a.md"),
        ("warning", "raw_source_missing_frontmatter", "raw/b.md"),
    ]


# The command


@pytest.fixture
def ran(desk_over, capsys):
    """Runs the command over a vault: (exit code, stdout, stderr)."""

    def run(files: dict[str, str | bytes], *options: str) -> tuple[int, str, str]:
        desk = desk_over(files)
        capsys.readouterr()
        code = main(["wiki-health", "--config", str(desk.config.path), *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (source(), (), 0),
        (source(), ("--strict",), 0),
        (BODY, (), 0),
        (BODY, ("--strict",), 1),
        (BODY, ("--strict", "--json"), 1),
        (source(sha256="0" * 64), (), 1),
        (source(sha256="0" * 64), ("--json",), 1),
        (source(), ("--stricter",), 2),
        (source(), ("extra",), 2),
    ],
)
def test_the_exit_code_says_what_was_found(ran, text, options, code):
    assert ran({"raw/a.md": text}, *options)[0] == code


@pytest.mark.parametrize(
    ("text", "options"),
    [(source(), ("--strict",)), (BODY, ()), (BODY, ("--strict",)), (source(sha256="0" * 64), ())],
)
def test_ok_in_the_document_is_exit_code_0(ran, text, options):
    code, out, _ = ran({"raw/a.md": text}, *options, "--json")
    assert json.loads(out)["ok"] is (code == 0)


def test_this_report_and_that_on_frontmatter_count_alike(desk_over):
    desk = desk_over({"raw/a.md": BODY, "10_facts/b.md": "x"})
    for report in (desk.wiki_health(), desk.validate_frontmatter()):
        assert report.errors + report.warnings > 0
        counts = report.count("error"), report.count("warning")
        assert (report.errors, report.warnings) == counts


def test_the_text_has_the_code_and_the_remedy_of_each_issue(ran, tmp_path):
    text = source(source_url=None, ingested="soon")
    code, out, err = ran({"raw/a.md": text, "raw/b\x1b[31m.md": text} if os.name != "nt" else {})
    lines = out.splitlines()
    assert lines[0] == "raw/a.md: warning raw_source_invalid_ingested"
    assert lines[1] == "    ingested 'soon' is no day; write it as YYYY-MM-DD"
    assert lines[2] == "raw/b\\x1b[31m.md: warning raw_source_invalid_ingested"
    assert lines[-1] == "0 errors, 4 warnings"
    assert (code, err) == (0, "")
    (tmp_path / "vault/raw/a.md").unlink()
    (tmp_path / "vault/raw/b\x1b[31m.md").unlink()
    assert ran({})[1] == f"the vault keeps the contract: {tmp_path / 'vault'}\n"


def test_a_vault_of_another_order_is_told_that_it_need_not_keep_the_contract(
    desk_over, tmp_path, capsys
):
    config = str(desk_over({}).config.path)
    for name in ROOT_FILES:
        assert "need not keep it" not in capsys.readouterr().err
        (tmp_path / "vault" / name).unlink()
        assert main(["wiki-health", "--config", config]) == 1
    assert capsys.readouterr().err == (
        "cortex: the contract is for vaults that cortex init --scaffold laid out; "
        "one with an order of its own need not keep it\n"
    )


def test_the_commands_it_names_are_for_the_config_that_was_asked_of(desk_over, tmp_path, capsys):
    config = str(desk_over({}, settings="").config.path)
    (tmp_path / "vault" / "log.md").unlink()
    assert main(["wiki-health", "--config", config]) == 1
    told = [line for line in capsys.readouterr().out.splitlines() if "run: " in line]
    assert len(told) == 4
    assert {line.rpartition("run: ")[2] for line in told} == {
        f"cortex index --config {config}",
        f"cortex init --scaffold --config {config}",
    }
    (tmp_path / "state" / "config.yaml").write_text(
        f"vault: {{path: '{tmp_path / 'vault'}'{CURATED}}}\n"
    )
    assert main(["init", "--scaffold", "--config", config]) == 0
    assert main(["wiki-health", "--config", config]) == 0


def test_the_document_is_the_same_each_time_and_sorted(ran):
    files: dict[str, str | bytes] = {
        f"raw/papers/{n}.md": text for n, text in enumerate((BODY, source(sha256="0" * 64)) * 3)
    }
    first = ran(files, "--json")[1]
    assert ran(files, "--json")[1] == first
    document = json.loads(first)
    assert list(document) == [
        *("schema_version", "config_path", "vault_path", "ok", "error_count", "warning_count"),
        *("issue_count", "issues"),
    ]
    assert (document["ok"], document["error_count"], document["warning_count"]) == (False, 3, 3)
    keys = [(i["severity"], i["code"], i["path"], i["message"]) for i in document["issues"]]
    assert keys == sorted(keys)


def test_nothing_is_written(ran, tmp_path):
    files: dict[str, str | bytes] = {"raw/a.md": BODY, "raw/b.md": source(sha256="0" * 64)}
    ran(files)
    (tmp_path / "vault" / "log.md").unlink()

    def tree() -> dict[str, tuple[float, bytes | None]]:
        return {
            path.as_posix(): (path.stat().st_mtime, path.read_bytes() if path.is_file() else None)
            for path in sorted(tmp_path.rglob("*"))
        }

    before = tree()
    for options in ((), ("--json",), ("--strict",)):
        main(["wiki-health", "--config", str(tmp_path / "state/config.yaml"), *options])
    assert tree() == before

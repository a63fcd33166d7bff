"""The order that a vault of Cortex keeps: folders, root files, and the properties of its notes."""

from __future__ import annotations

# The folders for notes, and the type of the notes in them; None where any type may lie.
FOLDER_TYPES: dict[str, str | None] = {
    "00_inbox": None,
    "10_facts": "fact",
    "20_decisions": "decision",
    "30_projects": "project",
    "40_runbooks": "runbook",
    "50_people": "person",
    "60_maps": "map",
    "80_templates": None,
}
INBOX, TEMPLATES, RAW = "00_inbox", "80_templates", "raw"
ROOT_FILES = ("SCHEMA.md", "index.md", "log.md")
RAW_FOLDERS = ("raw/articles", "raw/papers", "raw/transcripts", "raw/assets")
# What is not to be indexed: drafts, forms to fill in, and sources as they came.
NOT_CURATED = (INBOX, TEMPLATES, RAW)

REQUIRED = ("type", "status", "tags", "confidence", "importance", "stability")
# The words that a property may have; case counts.
WORDS: dict[str, tuple[str, ...]] = {
    "type": ("fact", "decision", "project", "runbook", "person", "map", "note"),
    "status": ("active", "draft", "archived", "deprecated", "stale", "superseded"),
    "stability": ("stable", "evolving", "experimental"),
}
# Where the label of a workflow belongs, which `status` does not hold.
WORKFLOW = ("review_status", "lifecycle_status", "decision_state", "roadmap_phase")
DATES = ("created", "updated", "last_verified", "valid_from", "valid_until")


def folder_type(path: str) -> str | None:
    """The type of the notes in the top-level folder of a vault-relative path, if it has one."""
    return FOLDER_TYPES.get(path.split("/", 1)[0]) if "/" in path else None

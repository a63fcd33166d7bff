"""The host's databases as it makes them: for a world in which no host is installed."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sqlite3
from pathlib import Path

SCHEMA_VERSION = 22  # of the session database

_SESSIONS = """
id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT,
chat_type TEXT, thread_id TEXT, display_name TEXT, origin_json TEXT,
expiry_finalized INTEGER DEFAULT 0, model TEXT, model_config TEXT, system_prompt TEXT,
parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0,
cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0,
reasoning_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, git_repo_root TEXT,
billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL,
actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, pricing_version TEXT, title TEXT,
api_call_count INTEGER DEFAULT 0, handoff_state TEXT, handoff_platform TEXT, handoff_error TEXT,
compression_failure_cooldown_until REAL, compression_failure_error TEXT,
compression_fallback_streak INTEGER NOT NULL DEFAULT 0, profile_name TEXT,
rewind_count INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0,
FOREIGN KEY (parent_session_id) REFERENCES sessions(id)
"""
_MESSAGES = """
id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
effect_disposition TEXT, timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT,
reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT,
codex_message_items TEXT, platform_message_id TEXT, observed INTEGER DEFAULT 0,
active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT
"""
_FACTS = """
fact_id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL UNIQUE,
category TEXT DEFAULT 'general', tags TEXT DEFAULT '', trust_score REAL DEFAULT 0.5,
retrieval_count INTEGER DEFAULT 0, helpful_count INTEGER DEFAULT 0,
created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
hrr_vector BLOB
"""
_SEARCHED = "COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || " + (
    "COALESCE(new.tool_calls, '')"
)


def _message_index(name: str, options: str) -> str:
    """A full-text table over messages, with what keeps it up to date."""
    add = f"INSERT INTO {name}(rowid, content) VALUES (new.id, {_SEARCHED});"
    drop = f"DELETE FROM {name} WHERE rowid = old.id;"
    return f"""
CREATE VIRTUAL TABLE {name} USING fts5(content{options});
CREATE TRIGGER {name}_insert AFTER INSERT ON messages BEGIN {add} END;
CREATE TRIGGER {name}_delete AFTER DELETE ON messages BEGIN {drop} END;
CREATE TRIGGER {name}_update AFTER UPDATE ON messages BEGIN {drop} {add} END;
"""


_ADD_FACT = (
    "INSERT INTO facts_fts(rowid, content, tags) VALUES (new.fact_id, new.content, new.tags)"
)
_DROP_FACT = (
    "INSERT INTO facts_fts(facts_fts, rowid, content, tags) "
    "VALUES ('delete', old.fact_id, old.content, old.tags)"
)

STATE_DB = f"""
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES ({SCHEMA_VERSION});
CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE sessions ({_SESSIONS});
CREATE TABLE messages ({_MESSAGES});
CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
{_message_index("messages_fts", "")}
"""
TRIGRAM = _message_index("messages_fts_trigram", ", tokenize='trigram'")
MEMORY_STORE = f"""
CREATE TABLE facts ({_FACTS});
CREATE VIRTUAL TABLE facts_fts USING fts5(content, tags, content=facts, content_rowid=fact_id);
CREATE TRIGGER facts_ai AFTER INSERT ON facts BEGIN {_ADD_FACT}; END;
CREATE TRIGGER facts_ad AFTER DELETE ON facts BEGIN {_DROP_FACT}; END;
CREATE TRIGGER facts_au AFTER UPDATE ON facts BEGIN {_DROP_FACT}; {_ADD_FACT}; END;
"""


def make_state_db(file: Path) -> str:
    """A session database without sessions, by the host where it is installed, else as above.

    Gives whose it is, for people. Raises sqlite3.Error.
    """
    if importlib.util.find_spec("hermes_state") is not None:
        with contextlib.suppress(ImportError):  # of a host that lacks something itself
            importlib.import_module("hermes_state").SessionDB(db_path=file).close()
            return "the host's own"
    execute(file, STATE_DB)
    with contextlib.suppress(sqlite3.OperationalError):  # SQLite before 3.34 has no trigrams
        execute(file, TRIGRAM)
    return "as Cortex knows them"


def execute(file: Path, script: str) -> None:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.executescript("PRAGMA journal_mode = WAL;" + script)

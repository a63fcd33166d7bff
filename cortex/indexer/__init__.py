"""Notes -> chunks.jsonl, notes.jsonl and the lexical index; see build.py."""

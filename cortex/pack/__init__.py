"""The session pack: what a session starts from, bounded and sealed."""

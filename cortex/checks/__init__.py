"""Reads what there is and says what it found; writes nothing."""

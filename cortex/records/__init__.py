"""What Hermes itself wrote down: read, never touched."""

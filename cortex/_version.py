"""The version, in one place: a plugin folder that was never installed has no metadata to ask."""

__version__ = "0.5.0"

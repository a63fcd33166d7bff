"""Chunks -> vectors -> Chroma; see build.py."""

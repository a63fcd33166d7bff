"""Judged search quality: our figures on a collection beside those of plain, well-known parts."""

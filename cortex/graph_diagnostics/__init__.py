"""What the link graph shows about a vault: read-only, over the artifacts of one folder.

Functions take the folder that holds graph_nodes.jsonl, graph_edges.jsonl, graph_broken.jsonl and
graph_stats.json, or the records of notes.jsonl where a report needs more than the graph has. They
return what json.dumps takes; what there is none of is an empty list.
"""

from .connections import connections, neighbors
from .duplicates import duplicates
from .faults import broken, contradictions, stale, unverified
from .shape import centrality, orphans, status

__all__ = (
    "broken",
    "centrality",
    "connections",
    "contradictions",
    "duplicates",
    "neighbors",
    "orphans",
    "stale",
    "status",
    "unverified",
)

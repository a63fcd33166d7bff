"""The models that can be chosen, with what is known of each."""

from __future__ import annotations

from pathlib import Path

from ..config.schema import BUNDLED_MODELS
from ..types import Json
from .choice import GET_MULTILINGUAL, MULTILINGUAL, MULTILINGUAL_KNOWS, Choice
from .weights import available


def listed_models(
    chosen: str, auto: Choice | None, models_folder: Path, has_multilingual: bool
) -> list[dict[str, Json]]:
    """See Cortex.models. auto: why `embeddings.model: auto` stands for `chosen`, if it does."""
    listed: list[dict[str, Json]] = [
        {
            "name": BUNDLED_MODELS[0],
            "chosen": chosen in BUNDLED_MODELS,
            "available": available(models_folder),
            "languages": ["en"],
            "dimensions": 384,
            "get": "cortex model fetch",
        },
        {
            "name": MULTILINGUAL,
            "chosen": chosen == MULTILINGUAL,
            "available": has_multilingual,
            "languages": list(MULTILINGUAL_KNOWS),
            "dimensions": 512,
            "get": GET_MULTILINGUAL,
        },
    ]
    if not any(entry["chosen"] for entry in listed):
        unknown = dict.fromkeys(listed[0])  # every row has the same keys
        listed.append({**unknown, "name": chosen, "chosen": True})
    if auto is not None:
        about = {"why": auto.why, "is_kept": auto.is_kept, "advice": auto.advice}
        next(entry for entry in listed if entry["chosen"])["auto"] = about
    return listed

"""A cross-encoder of sentence-transformers: reads question and text together, and is slow."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import Unavailable
from .bundled import encodable
from .models import device_of, hub_place, missing_package, one_line, quiet_transformers

BATCH = 16  # pairs
REQUIREMENT = "sentence-transformers>=5.0"
RETRY_AFTER_S = 300  # what a hub cannot give now takes it a minute to refuse


class CrossEncoderReranker:
    """Scores pairs by any cross-encoder that gives one number a pair. Safe for several threads.

    model: a folder, or a name on the model hub, which is downloaded if it is not in the hub's
    cache, unless local_files_only. device and cache_folder: as for an embedder. Nothing is loaded
    before `load`. Pairs beyond the model's window are cut at the end of the text. A hub model that
    could not be loaded is not tried again for RETRY_AFTER_S, a folder at each call.
    """

    def __init__(
        self,
        model: str,
        device: str = "auto",
        cache_folder: Path | None = None,
        local_files_only: bool = False,
    ) -> None:
        self.name = model
        self._device = device
        self._cache_folder = str(cache_folder) if cache_folder else None
        self._local_files_only = local_files_only
        path = Path(model).expanduser()
        is_path = path.is_absolute() or model.startswith((".", "~"))
        self._folder = path.resolve() if is_path else None
        self._lock = threading.RLock()  # transformers changes its tokenizer's settings in each call
        self._model: Any = None
        self._failure: tuple[float, Unavailable] | None = None  # when, by time.monotonic, and why

    def load(self) -> None:
        with self._lock:
            if self._model is not None:
                return
            if self._failure and time.monotonic() - self._failure[0] < RETRY_AFTER_S:
                raise self._failure[1]
            try:
                self._model = self._loaded()
            except Unavailable as error:
                if self._folder is None:
                    self._failure = (time.monotonic(), error)
                raise

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        with self._lock:
            self.load()
            pairs = [(encodable(query), encodable(text)) for text in texts]
            try:
                found = self._model.predict(pairs, batch_size=BATCH, show_progress_bar=False)
            except Exception as error:  # bare, as the libraries below raise it
                raise self._unusable(one_line(error)) from error
        scores = [float(score) for score in found]
        if not all(map(math.isfinite, scores)):
            raise self._unusable("a score that is no number")
        return scores

    def _loaded(self) -> Any:
        if self._folder is not None and not self._folder.is_dir():
            raise self._unusable("no such folder")
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise missing_package("sentence-transformers", REQUIREMENT, error) from error
        may_download = self._folder is None and not self._local_files_only
        try:
            place = self._folder or hub_place([self.name], self._cache_folder)
        except ValueError as error:  # no name that a hub model can have
            raise self._unusable(one_line(error)) from error
        if place is None and not may_download:
            raise self._unusable("not in the cache, and local_files_only")
        if place is None and Path(self.name).exists():  # sentence-transformers would prefer it
            raise self._unusable("a folder of that name here hides it; go elsewhere")
        try:
            device = device_of(self._device)
            with quiet_transformers():
                model = CrossEncoder(
                    self.name if place is None else str(place),
                    device=device,
                    cache_folder=self._cache_folder,
                    local_files_only=place is not None,
                )
        except Exception as error:  # a broken model raises whatever the libraries below raise
            raise self._unusable(one_line(error)) from error
        if model.num_labels != 1:
            raise self._unusable(f"it gives {model.num_labels} numbers a pair, not one")
        return model

    def _unusable(self, reason: str) -> Unavailable:
        return Unavailable("rerank", f"the model {self.name} cannot be used ({reason})")

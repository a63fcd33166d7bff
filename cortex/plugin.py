"""The agent's tools as the host calls them: whatever a model asks, however wrong, has an answer.

Each answers with a JSON text: `{"success": true, ...}`, or `{"success": false, "error": ...}` that
says what to do. No answer is longer than tools.max_result_chars, or names a folder of the machine.

`cortex.plugin.vault_search({"query": "gauge"})` is the same from Python.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from .arguments import read_arguments
from .commands import as_typed
from .errors import SEEK, ConfigError, CortexError, UsageError
from .tools import context, read, search, write
from .tools.answers import as_json, known_folders, plain, without_paths
from .tools.schemas import SCHEMA, SCHEMAS, SYNONYMS, WRITE_SCHEMA
from .tools.search import resumable

if TYPE_CHECKING:
    from .app import Cortex
    from .runtime import Runtime

__all__ = [
    "SCHEMAS",
    "SYNONYMS",
    "VECTOR_WAIT_S",
    "WRITE_SCHEMA",
    "Tools",
    "resumable",
    "vault_build_context",
    "vault_read_note",
    "vault_search",
    "vault_write_note",
    "without_paths",
]

log = logging.getLogger(__name__)

VECTOR_WAIT_S = 8.0  # for the model; after that the other channels answer alone

_ERROR_CHARS = 600
_BLANK_BESIDE = {"query": "filters"}  # filters alone list the notes that pass

_Answer = Callable[["Cortex", dict[str, Any]], str]


class Tools:
    """What the host calls: `tools.vault_search(args, session_id=..., ...)`; never raises."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def vault_search(self, args: object, **host: object) -> str:
        def answer(cortex: Cortex, asked: dict[str, Any]) -> str:
            return search.vault_search(cortex, asked, VECTOR_WAIT_S)

        return self._guarded("vault_search", args, host, answer)

    def vault_read_note(self, args: object, **host: object) -> str:
        return self._guarded("vault_read_note", args, host, read.vault_read_note)

    def vault_build_context(self, args: object, **host: object) -> str:
        def answer(cortex: Cortex, asked: dict[str, Any]) -> str:
            return context.vault_build_context(cortex, asked, VECTOR_WAIT_S)

        return self._guarded("vault_build_context", args, host, answer)

    def vault_write_note(self, args: object, **host: object) -> str:
        def answer(cortex: Cortex, asked: dict[str, Any]) -> str:
            session = self._runtime.session(str(host.get("session_id") or ""))
            return write.vault_write_note(cortex, asked, session)

        return self._guarded("vault_write_note", args, host, answer)

    def may_write(self) -> bool:
        """Whether the settings of the profile that asks offer vault_write_note."""
        try:
            return self._runtime.cortex().config.tools.write
        except CortexError:
            return False

    def _guarded(self, name: str, args: object, host: Mapping[str, object], answer: _Answer) -> str:
        """The one guard: whatever goes wrong becomes an answer that helps the model or the user."""
        cortex: Cortex | None = None
        try:
            try:
                cortex = self._runtime.cortex()
                self._refuse_strangers(cortex, host)
                parameters = SCHEMA[name]["parameters"]
                asked = read_arguments(parameters, SYNONYMS[name], args, _BLANK_BESIDE)
                return answer(cortex, asked)
            except CortexError as error:
                return self._failed(cortex, error)
        except Exception as error:
            told = _told(error, self._runtime)
            # A missing package is no bug, and each call would tell of it again.
            log.error("%s failed: %s", name, told, exc_info=not isinstance(error, ImportError))
            return as_json({"success": False, "error": told})

    def _refuse_strangers(self, cortex: Cortex, host: Mapping[str, object]) -> None:
        from .platforms import refusal

        runtime = self._runtime
        session = runtime.session(str(host.get("session_id") or ""))
        admitted = cortex.config.tools.platforms
        why = refusal(admitted, session, runtime.home(), runtime.environment())
        if why is not None:
            log.info("session %s was refused: %s", session.id, why)
            raise UsageError(
                f"the vault is not open to this session: {why}; "
                "its owner can admit more in tools.platforms of the Cortex config"
            )

    def _failed(self, cortex: Cortex | None, error: CortexError) -> str:
        # What was asked wrongly is told with names of notes, which stay as they are.
        exact = isinstance(error, UsageError) and not isinstance(error, ConfigError)
        message = str(error).replace(SEEK, "search for it with vault_search")
        folders, program = known_folders(cortex, self._runtime), self._runtime.program()
        told = plain(message, program, folders, _ERROR_CHARS, exact=exact)
        return as_json({"success": False, "error": told})


def _told(error: Exception, runtime: Runtime) -> str:
    from .ops.packages import REMEDY, missing_package

    package = missing_package(error) if isinstance(error, ImportError) else None
    if package is not None:
        how = "is missing" if isinstance(error, ModuleNotFoundError) else "cannot be loaded"
        told = f"{package} {how} in the Python that Hermes runs in; {REMEDY}"
        return as_typed(told, runtime.program())
    if isinstance(error, OSError) and error.strerror:
        return f"the system refused: {error.strerror}; see the log"
    return f"internal error ({type(error).__name__}); see the log"


# From Python


@cache
def _tools() -> Tools:
    from .runtime import Runtime

    return Tools(Runtime())


def vault_search(args: object, **host: object) -> str:
    """Search the vault that the settings name; see SCHEMAS for the arguments."""
    return _tools().vault_search(args, **host)


def vault_read_note(args: object, **host: object) -> str:
    """Read a note of it, whole or in part."""
    return _tools().vault_read_note(args, **host)


def vault_build_context(args: object, **host: object) -> str:
    """Cited Markdown out of it."""
    return _tools().vault_build_context(args, **host)


def vault_write_note(args: object, **host: object) -> str:
    """A new note in it, where tools.write is true; see WRITE_SCHEMA."""
    return _tools().vault_write_note(args, **host)

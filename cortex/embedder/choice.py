"""Which model `embeddings.model: auto` stands for: decided once, and kept beside the vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..config.schema import AUTO_MODELS
from ..errors import Damaged
from ..files import read_json, read_lines, write_json
from ..state import Stamp, State

ENGLISH, MULTILINGUAL = AUTO_MODELS
CHOICE = "model.json"
MOST_OTHER = 0.2  # of the text: beyond it, an English model leaves too much of the vault unfound
TOLD_LANGUAGES = 4
GET_MULTILINGUAL = "cortex install --multilingual"
CHOOSE = "cortex embed --choose-model"
# What the multilingual encoder was trained on; beside them it goes by kinship of words alone.
MULTILINGUAL_KNOWS = (
    *("ar", "de", "en", "es", "fr", "it", "ja", "ko"),
    *("nl", "pl", "pt", "ru", "th", "tr", "zh"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that auto stands for."""

    model: str
    why: str  # a clause: `100 % of the text is English`
    is_kept: bool = False  # it stays, whatever becomes of the vault, until it is chosen anew
    advice: str = ""  # what would serve the vault better, with what to run; empty if nothing would


def language_shares(index: Stamp) -> dict[str, float]:
    """ISO 639-1 code -> its share of the notes' bytes, largest first; empty without text.

    A note too short to tell counts as in the vault's main language. Bytes, because a letter of
    Chinese says about what three of English do. Raises Damaged.
    """
    path = index.file("notes.jsonl")
    sizes: Counter[str] = Counter()
    try:
        for note in read_lines(path):
            language = note["language"]
            own = index.values["main_language"] if language == "und" else language
            sizes[str(own)] += note["size"]
    except (ValueError, KeyError, TypeError):
        raise Damaged(f"{path} is damaged; run: cortex index --force") from None
    total = sizes.total()
    return {code: size / total for code, size in sizes.most_common() if size}


def decide(shares: Mapping[str, float], has_multilingual: bool) -> Choice:
    """What auto chooses for a vault of these languages.

    shares: see language_shares. has_multilingual: whether that model's package is installed.
    """
    why = _told(shares)
    if _other(shares) <= MOST_OTHER:
        return Choice(ENGLISH, why)
    if has_multilingual:
        return Choice(MULTILINGUAL, why, advice=_advice_beyond(shares))
    advice = (
        f"{_percent(_other(shares))} of the text is in languages that "
        f"{ENGLISH.rpartition('/')[2]} does not know, and is found by its words, not by what it "
        f"means; run: {GET_MULTILINGUAL}, then run: {CHOOSE}"
    )
    why = f"{why}, but {MULTILINGUAL} was not installed"
    return Choice(ENGLISH, why, advice=_advice_beyond(shares) or advice)


def current(state: State, has_multilingual: bool) -> Choice:
    """What auto stands for now: what was kept, else what it would choose for the index.

    Vectors that are there already are kept too, of whichever of the two models. Without an index
    it is the English model, with no reason given.
    """
    shares, kept = _shares_now(state), _kept(state)
    if kept is not None and kept.model == MULTILINGUAL:
        has_multilingual = True  # if it is gone since, it is missed, and not to be replaced
    fresh = decide(shares, has_multilingual) if shares is not None else Choice(ENGLISH, "")
    if kept is None:
        return fresh
    advice = fresh.advice
    if shares is not None and fresh.model != kept.model:
        advice = f"auto would now choose {fresh.model}: {fresh.why}; run: {CHOOSE}"
    return Choice(kept.model, kept.why, is_kept=True, advice=advice)


def model_of(state: State, has_multilingual: bool) -> str:
    """The model of `current`; what was kept is known without a look at the notes."""
    kept = _kept(state)
    return (kept or current(state, has_multilingual)).model


def keep(state: State, choice: Choice) -> None:
    """Have `choice` stand until another is kept. Only the writer may call this."""
    path = state.root / CHOICE
    if _read(path) != (choice.model, choice.why):
        write_json(path, {"schema_version": 1, "model": choice.model, "why": choice.why})


def _kept(state: State) -> Choice | None:
    if found := _read(state.root / CHOICE):
        return Choice(*found)
    try:
        vectors = state.stamp("vectors")
    except Damaged:
        return None
    if vectors is None or vectors.values["model"] not in AUTO_MODELS:
        return None
    return Choice(vectors.values["model"], "its vectors were there already")


def _read(path: Path) -> tuple[str, str] | None:
    """(model, why) that were kept; a file that says no such thing is as good as none."""
    try:
        found = read_json(path)
        model, why = found["model"], str(found["why"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return (model, why) if model in AUTO_MODELS else None


def _shares_now(state: State) -> dict[str, float] | None:
    try:
        index = state.stamp("index")
        return None if index is None else language_shares(index)
    except Damaged:  # told by whoever reads the index
        return None


def _other(shares: Mapping[str, float]) -> float:
    return sum(share for code, share in shares.items() if code != "en")


def _told(shares: Mapping[str, float]) -> str:
    """`32 % of the text is not English (de 14 %, ja 10 %, fr 8 %)`."""
    other = _other(shares)
    if other <= MOST_OTHER:
        return f"{_percent(1 - other)} of the text is English"
    foreign = [(code, share) for code, share in shares.items() if code != "en"]
    listed = ", ".join(f"{code} {_percent(share)}" for code, share in foreign[:TOLD_LANGUAGES])
    return f"{_percent(other)} of the text is not English ({listed})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _advice_beyond(shares: Mapping[str, float]) -> str:
    """Where most of what is not English is in languages that neither of the two models knows."""
    unknown = {code: share for code, share in shares.items() if code not in MULTILINGUAL_KNOWS}
    if sum(unknown.values()) <= max(MOST_OTHER, _other(shares) / 2):
        return ""
    listed = ", ".join(list(unknown)[:TOLD_LANGUAGES])
    return (
        f"{MULTILINGUAL} was not trained on {listed}; for meaning there, name a model of "
        "sentence-transformers in embeddings.model (README, Other models)"
    )

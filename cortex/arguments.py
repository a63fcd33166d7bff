"""A model's arguments, read by the tool's own schema: what can be meant is taken, the rest told."""

from __future__ import annotations

import contextlib
import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .text import brief

if TYPE_CHECKING:
    from .types import Json

MAX_CHARS = 20_000  # of one argument; no maxLength says so, which llama.cpp cannot take

_WHOLE = re.compile(r"[+-]?[0-9]{1,15}(?:\.0{1,15})?")
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NOTHING = frozenset({"", "null", "none", "undefined"})


def read_arguments(
    parameters: Mapping[str, Json],
    synonyms: Mapping[str, str],
    args: object,
    blank_beside: Mapping[str, str] = {},
) -> dict[str, Any]:
    """name -> value of what was given or has a default; the others are absent.

    parameters: the JSON Schema of an object. synonyms: other names of its properties. null is as if
    it were not given. blank_beside: a required text -> the parameter beside which it may be blank.
    Raises UsageError that names the argument as it was given.
    """
    if isinstance(args, str) and len(args) <= 2 * MAX_CHARS:
        args = _parsed(args)
    if not isinstance(args, Mapping):
        raise UsageError(f"the arguments must be an object, not {kind_of(args)}")
    properties: Mapping[str, Mapping[str, Json]] = parameters["properties"]
    found: dict[str, Any] = {}
    said: dict[str, str] = {}
    for given, value in args.items():
        name, given = _property(given, properties, synonyms), _name_told(given)
        if value is None:
            continue
        if name == "heading" and isinstance(value, (list, tuple)):
            value = _path(value)
        try:
            read = _value(given, value, properties[name])
        except UsageError as error:
            if name == "top_k" and "page" in properties:
                raise UsageError(f"{error}; further hits are on the next page") from None
            raise
        if read is None:
            said.setdefault(name, given)
            continue
        if name in found and found[name] != read:
            raise UsageError(f"{said[name]} and {given} mean the same; give one of them")
        found[name], said[name] = read, given
    for name in parameters.get("required", ()):
        if name not in found and found.get(blank_beside.get(name, "")):
            found[name] = ""
        elif name not in found:
            what = "is empty" if name in said else "is missing"
            raise UsageError(f"{said.get(name, name)} {what}: {properties[name]['description']}")
    defaults = {name: about["default"] for name, about in properties.items() if "default" in about}
    return {**defaults, **found}


def _parsed(text: str) -> object:
    """What a text says as JSON, as some models send all their arguments; else the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def kind_of(value: object) -> str:
    """What a value is, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, (list, tuple)) else "an object"


def _property(
    given: object, properties: Mapping[str, Mapping[str, Json]], synonyms: Mapping[str, str]
) -> str:
    if given in properties:
        return str(given)
    told = brief(_name_told(given))
    folded = told.strip().casefold().replace("-", "_")
    name = synonyms.get(folded, folded)
    if name in properties:
        return name
    near = difflib.get_close_matches(folded, properties, n=1)
    meant = f"; did you mean {near[0]}?" if near else "."
    if folded in properties.get("filters", {}).get("properties", ()):
        meant = "; it belongs into filters."
    raise UsageError(f"no argument {told!r}{meant} There are {', '.join(properties)}")


def _value(given: str, value: Any, about: Mapping[str, Json]) -> Any:
    """What `value` means as the schema's type; None for what stands for nothing."""
    kind = about["type"]
    if kind == "string":
        return _text(given, value, about)
    if kind == "array":
        return _texts(given, value)
    if isinstance(value, str):
        if len(value) > MAX_CHARS:
            raise UsageError(f"{given} is too long: {len(value):,} characters")
        if value.strip().casefold() in _NOTHING:
            return None
    if kind == "integer":
        return _integer(given, value, about)
    if kind == "number":
        return _number(given, value, about)
    return _boolean(given, value) if kind == "boolean" else _object(given, value)


def _text(given: str, value: Any, about: Mapping[str, Json]) -> str | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if _is_huge(value):
            raise UsageError(f"{given} must be text, not a huge number")
        value = str(value)
    if not isinstance(value, str):
        raise UsageError(f"{given} must be text, not {kind_of(value)}")
    if len(value) > MAX_CHARS:
        raise UsageError(f"{given} has {len(value):,} characters; at most {MAX_CHARS:,} are taken")
    if not value.strip():
        return None
    if "enum" in about:
        folded = value.strip().casefold()
        if folded not in about["enum"]:
            known = " or ".join(about["enum"])
            raise UsageError(f"{given} must be {known}, not {brief(value)!r}")
        return folded
    return value


def _texts(given: str, value: Any) -> list[str] | None:
    """A list of texts; one text stands for those between its commas."""
    if isinstance(value, str):
        value = _unquoted(value)
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{given} must be a list of texts")
    size = sum(map(len, value))
    if size > MAX_CHARS:
        raise UsageError(f"{given} has {size:,} characters; at most {MAX_CHARS:,} are taken")
    return [item.strip() for item in value if item.strip()] or None


def _integer(given: str, value: Any, about: Mapping[str, Json]) -> int:
    number = value
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        number = int(float(value))
    if isinstance(number, float) and math.isfinite(number) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        told = brief(repr(value)) if isinstance(value, (str, float)) else kind_of(value)
        raise UsageError(f"{given} must be a whole number, not {told}")
    low, high = about.get("minimum", -math.inf), about.get("maximum", math.inf)
    if not low <= number <= high:
        bounds = f"from {low} up" if high == math.inf else f"from {low} to {high:,}"
        raise UsageError(f"{given} must be {bounds}, not {_name_told(number)}")
    return number


def _number(given: str, value: Any, about: Mapping[str, Json]) -> float:
    number = value
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            number = float(value)
    told = brief(repr(value)) if isinstance(value, (str, float)) else kind_of(value)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise UsageError(f"{given} must be a number, not {told}")
    low, high = about["minimum"], about["maximum"]
    if not low <= number <= high:
        raise UsageError(f"{given} must be from {low} to {high}, not {_name_told(number)}")
    return float(number)


def _boolean(given: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    told = _name_told(value).strip().casefold() if isinstance(value, (str, int)) else ""
    read = _BOOLEANS.get(told)
    if read is None:
        told = brief(repr(value)) if isinstance(value, str) else kind_of(value)
        raise UsageError(f"{given} must be true or false, not {told}")
    return read


def _object(given: str, value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise UsageError(f"{given} must be an object; this text is no JSON") from None
    if value is None or value == []:  # a model's way to say nothing
        return None
    if not isinstance(value, Mapping):
        raise UsageError(f"{given} must be an object of field and value, not {kind_of(value)}")
    try:
        size = len(json.dumps(value, default=str))
    except (ValueError, TypeError, RecursionError):
        raise UsageError(f"{given} must be an object of field and value") from None
    if size > MAX_CHARS:
        raise UsageError(f"{given} is too long: {size:,} characters, at most {MAX_CHARS:,}")
    return {str(key): _unquoted(inner) for key, inner in value.items()}


def _unquoted(value: Any) -> Any:
    """The list that a text such as '["a", "b"]' is, as some models write one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass  # a link, as [[Note]] is one
    return value


def _path(parts: Sequence[object]) -> object:
    """A heading as a list of those above it and itself, as text; whatever else as it is."""
    texts = [part for part in parts if isinstance(part, str)]
    return " > ".join(texts) if len(texts) == len(parts) else parts


def _is_huge(value: object) -> bool:
    """Whether a number is longer than any that is meant; Python refuses to print the longest."""
    return isinstance(value, int) and value.bit_length() > 200


def _name_told(given: object) -> str:
    return "a huge number" if _is_huge(given) else str(given)

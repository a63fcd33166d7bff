"""What a shell is to read, written out from the places where the cursor can be.

Each script finds the place by the words in front of the cursor: it goes from place to place,
steps over the value of an option, and stops at the first word that leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .completion import Option, Place

_MOST = 70  # characters of what is said beside a name


def bash(places: Sequence[Place]) -> str:
    at = "\n".join(f"    {_quoted(_named(place))}) {_bash_place(place)} ;;" for place in places)
    values = "\n".join(
        f"    {_quoted(f'{_named(place)} {name}'.strip())}) echo {_quoted(what)} ;;"
        for place in places
        for name, what in _values(place)
    )
    return _BASH.replace("@AT@", at).replace("@VALUES@", values)


def zsh(places: Sequence[Place]) -> str:
    at = "\n".join(f"    {_quoted(_named(place))}) {_zsh_place(place)} ;;" for place in places)
    values = "\n".join(
        f"    {_quoted(f'{_named(place)} {name}'.strip())}) value={_quoted(what)} ;;"
        for place in places
        for name, what in _values(place)
    )
    return _ZSH.replace("@AT@", at).replace("@VALUES@", values)


def fish(places: Sequence[Place]) -> str:
    lines = [_FISH_HEAD.replace("@PLACES@", _fish_steps(places))]
    for place in places:
        here = f"__cortex_at {_fish_quoted(_named(place))}"
        for name, about in place.words:
            lines.append(_fish_line(here, f"-a {_fish_quoted(name)}", about))
        if place.takes_files:
            lines.append(_fish_line(here, "-F", ""))
        for option in place.options:
            lines.append(_fish_line(here, _fish_option(option), option.about))
    return "\n".join(lines) + "\n"


SCRIPTS: dict[str, Callable[[Sequence[Place]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _named(place: Place) -> str:
    return " ".join(place.path)


def _values(place: Place) -> list[tuple[str, str]]:
    """(name of an option, what its value is: @files, @other, or the choices), for each name."""
    return [
        (name, " ".join(option.choices) if option.value == "choices" else f"@{option.value}")
        for option in place.options
        if option.value
        for name in option.names
    ]


def _quoted(text: str) -> str:
    """One word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _short(text: str) -> str:
    """What a thing is, on one line, without what a shell would read as more than text."""
    line = " ".join(re.sub(r"[`$\\\"\x00-\x1f]", " ", text).split())
    return line if len(line) <= _MOST else line[: _MOST - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _bash_place(place: Place) -> str:
    words = " ".join(name for name, _ in place.words)
    options = " ".join(name for option in place.options for name in option.names if len(name) > 2)
    files = " files=1" if place.takes_files else ""
    return f"words={_quoted(words)} options={_quoted(options)}{files}"


def _zsh_place(place: Place) -> str:
    words = " ".join(_described(name, about) for name, about in place.words)
    options = " ".join(
        _described(name, option.about)
        for option in place.options
        for name in option.names
        if len(name) > 2
    )
    files = " files=1" if place.takes_files else ""
    return f"words_here=({words}) options=({options}){files}"


def _described(name: str, about: str) -> str:
    return _quoted(f"{name}:{_short(about)}" if about else name)


def _fish_steps(places: Sequence[Place]) -> str:
    known = " ".join(_fish_quoted(_named(place)) for place in places if place.path)
    takes = " ".join(
        _fish_quoted(f"{_named(place)} {name}".strip())
        for place in places
        for name, _ in _values(place)
    )
    return f"set -g __cortex_places {known}\nset -g __cortex_values {takes}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_line(condition: str, what: str, about: str) -> str:
    said = f" -d {_fish_quoted(_short(about))}" if about else ""
    return "\n".join(
        f"complete -c {program} -n {_fish_quoted(condition)} {what}{said}"
        for program in ("cortex", "hermes")
    )


def _fish_option(option: Option) -> str:
    names = " ".join(
        f"-l {name[2:]}" if name[:2] == "--" else f"-s {name[1:]}" for name in option.names
    )
    if option.value == "files":
        return f"{names} -r -F"
    if option.value == "choices":
        return f"{names} -x -a {_fish_quoted(' '.join(option.choices))}"
    return f"{names} -x" if option.value else names


_BASH = r"""# bash completion of cortex, and of hermes cortex
_cortex_at() {  # what may stand at a place
  words='' options='' files=''
  case "$1" in
@AT@
    *) return 1 ;;
  esac
}
_cortex_value() {  # what the value of an option is, if it takes one
  case "$1" in
@VALUES@
  esac
}
_cortex_files() {  # also in the bash 3.2 of macOS, which has no mapfile
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=( $(compgen -f -- "$1") )
}
_cortex_complete() {  # $1: how many words stand in front of those of cortex
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
  local place='' at=$1 word words options files value
  [[ $prev == '=' ]] && prev="${COMP_WORDS[COMP_CWORD-2]}"
  [[ $cur == '=' ]] && cur=''
  while (( at < COMP_CWORD )); do
    word="${COMP_WORDS[at]}"
    if [[ $word == -* ]]; then
      [[ -n $(_cortex_value "${place:+$place }$word") && ${COMP_WORDS[at+1]} != '=' ]] && (( at++ ))
    elif [[ $word == '=' ]]; then
      (( at++ ))
    elif _cortex_at "${place:+$place }$word"; then
      place="${place:+$place }$word"
    fi
    (( at++ ))
  done
  value=''
  [[ $prev == -* ]] && value=$(_cortex_value "${place:+$place }$prev")
  COMPREPLY=()
  case "$value" in
    @files) _cortex_files "$cur"; return ;;
    @other) return ;;
    ?*) COMPREPLY=( $(compgen -W "$value" -- "$cur") ); return ;;
  esac
  _cortex_at "$place"
  if [[ $cur == -* ]]; then
    COMPREPLY=( $(compgen -W "$options" -- "$cur") )
  elif [[ -n $files ]]; then
    _cortex_files "$cur"
  else
    COMPREPLY=( $(compgen -W "$words" -- "$cur") )
  fi
}
_cortex() { _cortex_complete 1; }
_cortex_in_hermes() {  # behind `hermes`: ours behind the word cortex, else what was there before
  local at=1
  while (( at < COMP_CWORD )); do
    case "${COMP_WORDS[at]}" in
      -p|--profile) (( at += 2 )) ;;
      -*) (( at++ )) ;;
      cortex) _cortex_complete $(( at + 1 )); return ;;
      *) break ;;
    esac
  done
  if [[ -n $_cortex_before ]]; then "$_cortex_before" "$@"; else COMPREPLY=(); fi
}
complete -F _cortex cortex
_cortex_found=$(complete -p hermes 2>/dev/null)
if [[ $_cortex_found =~ -F\ ([^[:space:]]+) && ${BASH_REMATCH[1]} != _cortex_in_hermes ]]; then
  _cortex_before=${BASH_REMATCH[1]}
fi
unset _cortex_found
complete -F _cortex_in_hermes hermes
"""

_ZSH = r"""#compdef cortex
# zsh completion of cortex, and of hermes cortex
_cortex_at() {
  words_here=() options=() files=''
  case "$1" in
@AT@
    *) return 1 ;;
  esac
}
_cortex_value() {
  value=''
  case "$1" in
@VALUES@
  esac
  [[ -n $value ]]
}
_cortex_complete() {  # $1: the number of the first word behind cortex
  local place='' word value files
  local -a words_here options choices
  local -i at=$1
  while (( at < CURRENT )); do
    word="${words[at]}"
    if [[ $word == -* ]]; then
      _cortex_value "${place:+$place }$word" && (( at++ ))
    elif _cortex_at "${place:+$place }$word"; then
      place="${place:+$place }$word"
    fi
    (( at++ ))
  done
  value=''
  if (( at == CURRENT )); then
    if [[ ${words[CURRENT]} == --*=* ]]; then
      _cortex_value "${place:+$place }${words[CURRENT]%%=*}" && compset -P '*='
    fi
  else  # the word in front of the cursor wants a value
    _cortex_value "${place:+$place }${words[CURRENT-1]}"
  fi
  case "$value" in
    @files) _files; return ;;
    @other) _message value; return ;;
    ?*) choices=(${=value}); _describe value choices; return ;;
  esac
  _cortex_at "$place"
  if [[ ${words[CURRENT]} == -* ]]; then
    _describe -o option options
  elif [[ -n $files ]]; then
    _files
  elif (( $#words_here )); then
    _describe command words_here
  fi
}
_cortex() { _cortex_complete 2 }
_cortex_in_hermes() {
  local -i at=2
  while (( at < CURRENT )); do
    case "${words[at]}" in
      -p|--profile) (( at += 2 )) ;;
      -*) (( at++ )) ;;
      cortex) _cortex_complete $(( at + 1 )); return ;;
      *) break ;;
    esac
  done
  [[ -n $_cortex_before ]] && $_cortex_before "$@"
}
if [[ $funcstack[1] == _cortex ]]; then  # read from a file on $fpath
  _cortex "$@"
elif (( $+functions[compdef] )); then
  compdef _cortex cortex
  if [[ ${_comps[hermes]:-_cortex_in_hermes} != _cortex_in_hermes ]]; then
    typeset -g _cortex_before=${_comps[hermes]}
  fi
  compdef _cortex_in_hermes hermes
fi
"""

_FISH_HEAD = r"""# fish completion of cortex, and of hermes cortex
@PLACES@
function __cortex_place  # prints where the cursor is; fails behind `hermes` alone
    set -l typed (commandline -opc)
    set -l at 2
    if test (string replace -r '.*/' '' -- $typed[1]) = hermes
        while test $at -le (count $typed); and test "$typed[$at]" != cortex
            switch "$typed[$at]"
                case -p --profile
                    set at (math $at + 1)
                case '-*'
                case '*'
                    return 1
            end
            set at (math $at + 1)
        end
        test $at -le (count $typed); or return 1
        set at (math $at + 1)
    end
    set -l place ''
    while test $at -le (count $typed)
        set -l next (string trim -- "$place $typed[$at]")
        if string match -q -- '-*' $typed[$at]
            contains -- $next $__cortex_values; and set at (math $at + 1)
        else if contains -- $next $__cortex_places
            set place $next
        end
        set at (math $at + 1)
    end
    echo $place
end
function __cortex_at
    set -l place (__cortex_place); or return 1
    test "$place" = "$argv[1]"
end
complete -c cortex -f
complete -c hermes -n __cortex_place -f
"""

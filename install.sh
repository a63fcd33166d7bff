#!/usr/bin/env bash
# Makes this checkout a plugin of Hermes Agent: installs what it needs into the Python that Hermes
# runs in, links the checkout into the Hermes home, and turns it on if asked. Everything is checked
# before anything is written; may be run again, as after every `git pull`.
set -euo pipefail

usage() {
    cat <<'END_USAGE'
usage: ./install.sh [--enable] [--private] [--multilingual] [--dry-run] [--uninstall] [--python PATH] [--home DIR] [--help]

  --enable       turn Cortex and its skills on in Hermes' config.yaml (with a backup)
  --private      keep the packages in a folder of this checkout, not in Hermes' own Python
  --multilingual also the embedding model for notes that are not in English, 30 MB
  --dry-run      say what would be done, do nothing
  --uninstall    turn Cortex off here, take away the link and the packages that it brought, unless
                 another home or profile uses them
  --python PATH  the Python that Hermes runs in; else $HERMES_CORTEX_PYTHON, else that of
                 $HERMES_AGENT_VENV, else that of the command hermes
  --home DIR     the Hermes home; else $HERMES_HOME, else ~/.hermes
END_USAGE
}

fail() {
    echo "install.sh: $1" >&2
    exit "${2:-1}"
}

# Of the user's shell: it would send `cd` elsewhere, or keep Python from looking in the checkout.
unset CDPATH PYTHONSAFEPATH
script=${BASH_SOURCE[0]}
while [ -L "$script" ]; do # called by a link to it
    target=$(readlink "$script")
    case $target in /*) script=$target ;; *) script=$(dirname "$script")/$target ;; esac
done
checkout=$(cd "$(dirname "$script")" && pwd -P)
HOME=${HOME:-$(cd ~ && pwd)}
python=${HERMES_CORTEX_PYTHON:-}
home=${HERMES_HOME:-}
options=(--link)
while [ $# -gt 0 ]; do
    case $1 in
    --enable | --private | --multilingual | --dry-run) options+=("$1") ;;
    --uninstall) options+=("$1") ;;
    --python=* | --home=*)
        option=${1%%=*} path=${1#*=}
        shift
        set -- "$option" "$path" "$@"
        continue
        ;;
    --python | --home)
        [ -n "${2:-}" ] || fail "$1 wants a path; see: ./install.sh --help" 2
        path=$2
        # The shell leaves it as it is in --home=~/x.
        case $path in "~" | "~/"*) path=$HOME${path#"~"} ;; esac
        if [ "$1" = --python ]; then python=$path; else home=$path; fi
        shift
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) fail "there is no option $1; see: ./install.sh --help" 2 ;;
    esac
    shift
done

# Is it a Python that Hermes Agent is installed in? Run in an empty place: a folder beside us may
# have the name of a module.
has_host() {
    [ -x "$1" ] && (cd / && "$1" -c 'import importlib.metadata as m; m.version("hermes-agent")') \
        >/dev/null 2>&1
}

# What in a script may be a Python or a command `hermes`, first without blanks in the path.
paths_in() {
    local rest="/bin/(python[0-9.]*|hermes)"
    LC_ALL=C head -c 4096 "$1" | tr -d '\000' | LC_ALL=C grep -Eao "/[^\"'\` ]+$rest" || true
    LC_ALL=C head -c 4096 "$1" | tr -d '\000' | LC_ALL=C grep -Eao "/[^\"'\`]+$rest" || true
}

# The Python beside a command `hermes`, or the one that its script starts.
python_of() {
    local command=$1 depth=${2:-0} folder line word
    [ "$depth" -lt 4 ] && [ -f "$command" ] || return 1
    folder=$(dirname "$command")
    for word in "$folder/python3" "$folder/python"; do
        if has_host "$word"; then
            echo "$word"
            return
        fi
    done
    if [ -L "$command" ]; then
        line=$(readlink "$command")
        case $line in /*) ;; *) line=$folder/$line ;; esac
        if python_of "$line" $((depth + 1)); then return; fi
    fi
    # A script: its first line, or what a wrapper hands over to.
    while IFS= read -r word; do
        case $word in
        */hermes) if [ "$word" != "$command" ] && python_of "$word" $((depth + 1)); then return; fi ;;
        *) if has_host "$word"; then
            echo "$word"
            return
        fi ;;
        esac
    done < <(paths_in "$command")
    return 1
}

find_python() {
    local command place root
    if [ -n "${HERMES_AGENT_VENV:-}" ]; then
        for place in "$HERMES_AGENT_VENV/bin/python" "$HERMES_AGENT_VENV/bin/python3"; do
            if has_host "$place"; then
                echo "$place"
                return
            fi
        done
        fail "HERMES_AGENT_VENV=$HERMES_AGENT_VENV is no environment that Hermes is installed in"
    fi
    if command=$(command -v hermes); then
        if python_of "$command"; then return; fi
        case $command in
        */shims/*) # of a version manager: it knows the real one
            if command=$(pyenv which hermes 2>/dev/null) && python_of "$command"; then return; fi ;;
        esac
    fi
    for root in "$home/hermes-agent/venv" "$HOME/.hermes/hermes-agent/venv" \
        "$HOME/.hermes/hermes-agent/.venv" "$HOME/.local/share/uv/tools/hermes-agent" \
        "$HOME/.local/share/pipx/venvs/hermes-agent" "$HOME/.local/pipx/venvs/hermes-agent"; do
        if has_host "$root/bin/python"; then
            echo "$root/bin/python"
            return
        fi
    done
    fail "the Python that Hermes runs in was not found; name it: ./install.sh --python PATH"
}

if [ -z "$home" ]; then home=$HOME/.hermes; fi
case $home in /*) ;; *) home=$PWD/$home ;; esac
export HERMES_HOME=$home

if [ -n "$python" ]; then
    case $python in
    */*) case $python in /*) ;; *) python=$PWD/$python ;; esac ;;
    *) python=$(command -v "$python") || fail "there is no command $python" ;;
    esac
    has_host "$python" || fail "$python is no Python that Hermes is installed in; leave it out \
(--python, HERMES_CORTEX_PYTHON) to have that found, or see: head -n 1 \"\$(command -v hermes)\""
else
    python=$(find_python)
fi
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$python is older than Python 3.11, which Cortex needs"

echo "Hermes runs in $python, its home is $home"
# From the checkout, and not with PYTHONPATH: programs started from there would inherit that.
cd "$checkout"
exec "$python" -m cortex install "${options[@]}"

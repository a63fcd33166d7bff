# Sourced by quickstart and test: says where the virtual environment is, and makes it.
#
# CORTEX_VENV   its folder (default: .venv in the checkout)
# PYTHON        the Python that makes it (default: the first of 3.11 or later on the PATH)

venv=${CORTEX_VENV:-.venv}

fail() {
    echo "$1" >&2
    exit 1
}

# Python 3.11 or later that can make a virtual environment. Version managers leave commands on
# the PATH that only print an error, so each is tried, not just looked up.
is_usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        is_usable "$PYTHON" || fail "PYTHON=$PYTHON is not Python 3.11 or later with venv and pip"
        echo "$PYTHON"
        return
    fi
    for candidate in python3.11 python3.12 python3.13 python3 python; do
        if is_usable "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    fail "Cortex needs Python 3.11 or later with venv and pip, and none is on the PATH.
Install it (https://www.python.org/downloads/, or: apt install python3 python3-venv, or:
brew install python@3.12), or name one: PYTHON=/path/to/python3 $0"
}

# Makes the environment if it is not there, and never changes a folder that holds anything else.
make_venv() {
    set_bin
    if [ ! -d "$venv" ] || [ -z "$(ls -A "$venv")" ]; then
        python=$(find_python)
        echo "Making a virtual environment in $venv with $("$python" --version)"
        "$python" -m venv "$venv"
        set_bin
    elif ! is_usable "$bin/python"; then
        fail "$venv is no virtual environment of Python 3.11 or later; remove it, or name another with CORTEX_VENV"
    fi
    "$bin/python" -m pip --version >/dev/null 2>&1 || "$bin/python" -m ensurepip
}

# $bin: the folder of the environment's commands, absolute.
set_bin() {
    bin=$venv/bin
    if [ -d "$venv/Scripts" ]; then bin=$venv/Scripts; fi # Windows
    case $bin in /* | ?:*) ;; *) bin=$PWD/$bin ;; esac
}

# pip install, with a short line for each package instead of pip's own many.
install() {
    export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
    "$bin/python" -m pip install --progress-bar off "$@" | while IFS= read -r line; do
        case $line in
        Collecting\ *) line=${line#Collecting } && echo "  ${line%%[^A-Za-z0-9._-]*}" ;;
        Installing\ collected*) echo "  Installing what was collected" ;;
        Successfully\ installed*hermes-cortex*) echo "  Installed" ;;
        esac
    done
}

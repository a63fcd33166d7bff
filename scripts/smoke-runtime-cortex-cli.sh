#!/usr/bin/env bash
# Asks the Cortex that Hermes has installed, by `hermes cortex` alone, and writes only into a folder
# of its own: the commands are there, a small vault can be indexed and searched, exit codes hold.
# HERMES=/path/to/hermes names the command (default: hermes on the PATH).
set -euo pipefail

hermes=${HERMES:-hermes}
step="start"
fail() {
    echo "smoke: $step: $1" >&2
    exit 1
}
command -v "$hermes" >/dev/null || fail "there is no command $hermes"

place=$(mktemp -d "${TMPDIR:-/tmp}/cortex-smoke.XXXXXX")
trap 'rm -rf "$place"' EXIT
config=$place/state/config.yaml

# run CODE WORDS...: `hermes cortex WORDS...` must end with CODE. Its output: $place/out, $place/err.
run() {
    local wanted=$1 code=0
    shift
    step="hermes cortex $*"
    "$hermes" cortex "$@" >"$place/out" 2>"$place/err" </dev/null || code=$?
    if grep -q "invalid choice: 'cortex'" "$place/err"; then
        fail "Hermes knows no command cortex; is the plugin on? see: ./install.sh --enable"
    fi
    [ "$code" -eq "$wanted" ] ||
        fail "exit code $code, expected $wanted: $(tail -n 3 "$place/err" "$place/out")"
}
says() {
    grep -qF -- "$1" "$place/${2:-out}" || fail "does not say: $1"
}

run 0 --help
for command in init index embed model graph search context read config status install hook; do
    says "  $command "
done
run 0 version
version=$(cat "$place/out")

mkdir "$place/vault"
printf -- '---\ntype: fact\n---\n# Fog bell\n\nThe bell strikes late. See [[Keeper]].\n' >"$place/vault/Fog bell.md"
printf '# Keeper\n\nWinds the bell on Sundays.\n' >"$place/vault/Keeper.md"

run 0 init --vault "$place/vault" --config "$config"
run 0 config path --config "$config"
says "$config"
run 0 index --config "$config"
says "2 notes"
run 0 graph build --config "$config"

run 0 search "when does the bell strike" --config "$config" --json
says '"schema_version": 1'
says '"Fog bell.md"'
run 0 context "when does the bell strike" --config "$config" --budget 500
says "The bell strikes late"
run 0 read keeper --config "$config"
says "Winds the bell"

run 1 status --config "$config" --json # nothing was embedded, which status wants mended
for key in schema_version config vault state notes chunks generations freshness hook_lifecycle problems next; do
    says "\"$key\":"
done

run 2 serch bell
says "did you mean search?" err
run 2 search bell --config "$place/absent.yaml"
says "there is no config" err
run 2 read "no such note" --config "$config"
says "there is no note" err

step="done"
echo "ok: $version by $(command -v "$hermes")"

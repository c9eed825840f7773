#!/usr/bin/env bash
# environment.sh SET: makes .venv hold what requirements/SET.txt (site or dev) pins, and this project.
#
# A stamp holds a hash of everything the result depends on, so that a second run does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly wanted=${1:?name a requirements set: site or dev}
readonly stamps=.venv/installed

digest() { cat "requirements/$1.txt" pyproject.toml kvcore/__init__.py tools/environment.sh | git hash-object --stdin; }
is_installed() { [ "$(cat "$stamps/$1" 2>/dev/null)" = "$(digest "$1")" ]; }

if .venv/bin/python -c '' 2>/dev/null && is_installed "$wanted"; then
  exit
fi

if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
  python=$(tools/python.sh)
  echo "Creating .venv with $("$python" --version)"
  "$python" -m venv --clear .venv
fi

echo "Installing requirements/$wanted.txt into .venv"
pip=(.venv/bin/python -m pip --disable-pip-version-check install -qq)
"${pip[@]}" --require-hashes --only-binary :all: -r "requirements/$wanted.txt"
"${pip[@]}" --no-deps --no-build-isolation --no-index --editable .

mkdir -p "$stamps"
digest "$wanted" >"$stamps/$wanted"
# dev.txt holds all of site.txt, at the same versions.
[ "$wanted" != dev ] || digest site >"$stamps/site"

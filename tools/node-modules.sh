#!/usr/bin/env bash
# Installs what package-lock.json pins into node_modules, with the Node that .venv carries.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly stamp=node_modules/installed
digest=$(cat package.json package-lock.json | git hash-object --stdin)

[ "$(cat "$stamp" 2>/dev/null)" != "$digest" ] || exit 0

echo "Installing package-lock.json into node_modules"
export PATH="$PWD/.venv/bin:$PATH"
# No package of ours needs an install script, and none gets to run one.
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
echo "$digest" >"$stamp"

#!/usr/bin/env bash
# Compiles requirements/*.in into pinned and hashed requirements/*.txt.
#
# The hashes are those of every file of a release, so the locks hold on any platform. dev.txt is
# resolved first and constrains the others: a package has one version in the whole project.
# Pass --upgrade to move to the newest releases.
set -euo pipefail
cd "$(dirname "$0")/.."

compile() { # compile NAME OLDEST_PYTHON [OPTION…]
  local name=$1 python=$2
  shift 2
  uv pip compile "requirements/$name.in" --output-file "requirements/$name.txt" \
    --universal --python-version "$python" --generate-hashes --no-config \
    --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet "$@"
}

compile dev 3.12 "$@"
compile site 3.12 --constraints requirements/dev.txt "$@"
compile unit 3.11 --constraints requirements/dev.txt "$@"

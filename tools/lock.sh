#!/usr/bin/env bash
# Compiles the extras of pyproject.toml into pinned and hashed requirements/*.txt.
#
# The hashes are those of every file of a release, so the locks hold on any platform. dev.txt is
# resolved first and constrains the others: a package has one version in the whole project.
# Pass --upgrade to move to the newest releases.
set -euo pipefail
cd "$(dirname "$0")/.."

compile() { # compile SOURCE LOCK OLDEST_PYTHON [OPTION…]
  local source=$1 lock=$2 python=$3
  shift 3
  uv pip compile "$source" --output-file "requirements/$lock.txt" \
    --universal --python-version "$python" --generate-hashes --no-config \
    --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet "$@"
}

compile pyproject.toml dev 3.12 --extra site --extra test --extra check "$@"
compile pyproject.toml site 3.12 --extra site --constraints requirements/dev.txt "$@"
compile pyproject.toml test 3.11 --extra test --constraints requirements/dev.txt "$@"
compile requirements/bootstrap.in bootstrap 3.8 "$@"

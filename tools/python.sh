#!/usr/bin/env bash
# Prints a Python that can create the project's environment: 3.12 or newer, with venv and ensurepip.
#
# Looks at $PYTHON, the PATH, pyenv's and uv's versions; then, as root on Debian or Ubuntu, adds the
# distribution's own python3-venv; then asks uv (from PyPI) for a Python of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly NEWEST_FIRST="3.14 3.13 3.12"
readonly BOOTSTRAP=.cache/bootstrap

say() { printf '%s\n' "$*" >&2; }

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; }
makes_environments() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }
is_root_on_debian() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

candidates() {
  local version
  [ -z "${PYTHON:-}" ] || echo "$PYTHON"
  for version in $NEWEST_FIRST; do
    command -v "python$version" || true
    compgen -G "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version.*/bin/python3" | sort -rV || true
    compgen -G "${UV_PYTHON_INSTALL_DIR:-$HOME/.local/share/uv/python}/cpython-$version*/bin/python3" || true
  done
  command -v python3 || true
}

find_ready() {
  local python
  while read -r python; do
    if is_new_enough "$python" && makes_environments "$python"; then
      echo "$python"
      return
    fi
  done < <(candidates)
  return 1
}

install_package() {
  {
    apt-get update -qq &&
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$1"
  } >&2
}

# Debian splits ensurepip off into a package named after the interpreter's version.
add_debian_venv() {
  local python version
  is_root_on_debian || return 1
  while read -r python; do
    is_new_enough "$python" || continue
    version=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    say "Installing $version, which $python needs to create environments"
    install_package "$version" && return
  done < <(candidates)
  return 1
}

# An older python3 is enough to run uv, and uv brings its own builds of newer Pythons.
get_with_uv() {
  command -v python3 >/dev/null || return 1
  if ! makes_environments python3; then
    is_root_on_debian || return 1
    say "Installing python3-venv, which is needed to run uv"
    install_package python3-venv || return 1
  fi
  say "No Python 3.12 or newer here: getting one with uv"
  {
    python3 -m venv "$BOOTSTRAP" &&
      "$BOOTSTRAP/bin/pip" install --quiet --require-hashes --only-binary :all: -r requirements/bootstrap.txt &&
      "$BOOTSTRAP/bin/uv" python install --no-config --no-bin --no-progress 3.13
  } >&2 || return 1
  "$BOOTSTRAP/bin/uv" python find --no-config --managed-python 3.13
}

find_ready && exit
add_debian_venv && find_ready && exit
get_with_uv && exit

say "KV Atlas needs Python 3.12 or newer with the venv module, and could not find or get one."
say "Install one (Debian or Ubuntu, as root: apt-get install python3.13-venv; pyenv: pyenv install 3.13),"
say "or name one: make serve PYTHON=/path/to/python3.13"
exit 1

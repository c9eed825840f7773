#!/usr/bin/env bash
# Prints the Chromium that the browser tests drive; nothing if Playwright's own build is to be used.
#
# Takes what is installed; else, as root on Debian, the distribution's package; else Playwright's download.
set -euo pipefail
cd "$(dirname "$0")/.."

find_installed() {
  local name
  [ -z "${KV_CHROMIUM:-}" ] || { echo "$KV_CHROMIUM"; return; }
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    # Ubuntu's chromium-browser is a shim that asks for a snap, hence the trial.
    if command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1; then
      command -v "$name"
      return
    fi
  done
  return 1
}

is_root_on_debian() { [ "$(id -u)" = 0 ] && grep -qx 'ID=debian' /etc/os-release 2>/dev/null; }

find_installed && exit

if is_root_on_debian; then
  echo "Installing Debian's chromium for the browser tests" >&2
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends chromium >&2
  find_installed && exit
fi

echo "Getting Playwright's Chromium for the browser tests" >&2
# It needs libraries of the system, which only root may add; on machines for CI the user may be root without a password.
if [ "$(id -u)" = 0 ] || sudo --non-interactive true 2>/dev/null; then
  .venv/bin/python -m playwright install --with-deps chromium >&2 && exit
fi
.venv/bin/python -m playwright install chromium >&2

#!/usr/bin/env bash
# Brings what the tests use: system packages, on Debian as root, elsewhere it says what is missing; node-llama-cpp; and language
# servers and formatters. The tests that need a missing one are skipped, and say so. Go (490 MB) and rust-analyzer (not in Debian)
# are used if they are on PATH.
set -u

# command:package
needs=(git:git tmux:tmux mkfs.ext4:e2fsprogs mount:mount chromium:chromium bwrap:bubblewrap clangd:clangd shellcheck:shellcheck)

export PATH="$PATH:/usr/sbin:/sbin"
missing=()
# Debian does not put the programs of PostgreSQL into the PATH.
compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing+=(postgresql)
for need in "${needs[@]}"; do command -v "${need%%:*}" >/dev/null 2>&1 || missing+=("${need##*:}"); done

# node-llama-cpp with its build for the processor only; those for graphics cards take 600 MB.
llama="$(dirname "$0")/llama"
if [ ! -f "$llama/node_modules/.package-lock.json" ]; then
  echo "Installing: node-llama-cpp"
  # Not "npm ci": of the other builds, which are optional, the lock file knows only some.
  npm install --prefix "$llama" --no-save --omit=optional --ignore-scripts --no-audit --no-fund --silent >/dev/null ||
    echo "Missing for some tests: node-llama-cpp (no build for this machine, or no way to fetch it)" >&2
fi

tools="$(dirname "$0")/language-tools"
if [ ! -f "$tools/node_modules/.package-lock.json" ]; then
  echo "Installing: language servers and formatters"
  npm ci --prefix "$tools" --ignore-scripts --no-audit --no-fund --silent >/dev/null ||
    echo "Missing for some tests: language servers (no way to fetch them)" >&2
fi
# Neither Debian nor npm has ruff; PyPI has a program of 30 MB without dependencies.
if [ ! -x "$tools/ruff/bin/ruff" ]; then
  python3 -m pip install --quiet --no-deps --only-binary :all: --disable-pip-version-check --retries 0 --timeout 20 \
    --target "$tools/ruff" ruff==0.16.9 >/dev/null 2>&1 || echo "Missing for some tests: ruff (no pip, or no way to fetch it)" >&2
fi
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing: ${missing[*]}"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null && exit 0
  echo "Could not install: ${missing[*]}" >&2
else
  echo "Missing for some tests: ${missing[*]} (install them with your package manager)" >&2
fi
exit 0

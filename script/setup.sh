#!/usr/bin/env bash
# Brings what the tests use: system packages, on Debian as root, elsewhere it says what is missing; and node-llama-cpp.
# The tests that need a missing one are skipped, and say so.
set -u

# command:package
needs=(git:git tmux:tmux mkfs.ext4:e2fsprogs mount:mount chromium:chromium bwrap:bubblewrap)

export PATH="$PATH:/usr/sbin:/sbin"
missing=()
for need in "${needs[@]}"; do command -v "${need%%:*}" >/dev/null 2>&1 || missing+=("${need##*:}"); done

# node-llama-cpp with its build for the processor only; those for graphics cards take 600 MB.
llama="$(dirname "$0")/llama"
if [ ! -f "$llama/node_modules/.package-lock.json" ]; then
  echo "Installing: node-llama-cpp"
  # Not "npm ci": of the other builds, which are optional, the lock file knows only some.
  npm install --prefix "$llama" --no-save --omit=optional --ignore-scripts --no-audit --no-fund --silent >/dev/null ||
    echo "Missing for some tests: node-llama-cpp (no build for this machine, or no way to fetch it)" >&2
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

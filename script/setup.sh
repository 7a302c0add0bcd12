#!/usr/bin/env bash
# Brings the system packages that the tests use: on Debian as root it installs them, elsewhere it says what is missing.
# The tests that need a missing one are skipped, and say so.
set -u

# command:package
needs=(git:git mkfs.ext4:e2fsprogs mount:mount)

export PATH="$PATH:/usr/sbin:/sbin"
missing=()
for need in "${needs[@]}"; do command -v "${need%%:*}" >/dev/null 2>&1 || missing+=("${need##*:}"); done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing: ${missing[*]}"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null && exit 0
  echo "Could not install: ${missing[*]}" >&2
else
  echo "Missing for some tests: ${missing[*]} (install them with your package manager)" >&2
fi
exit 0

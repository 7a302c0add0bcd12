// Turns off the settings of a repository that make git run a program. A repository chooses the names of its filters,
// drivers and aliases, so its configuration is read first, and each setting is overridden by its name.
import { isAbsolute } from "node:path"

/** One line of `git config --list`. `isOwn`: the repository sets it, not the person or the system. */
export type Entry = { key: string; value: string; isOwn: boolean }

/** Git passes these arguments: the path, the old file, its hash and mode, the new file, its hash and mode. */
const plainDiff = 'f() { diff -u "$2" "$5"; true; }; f'
const off: [key: RegExp, value: string][] = [
  [/^core\.(fsmonitor|alternaterefscommand)$/, "false"],
  [/^core\.sshcommand$/, "ssh"],
  [/^core\.askpass$/, ""],
  [/^(core|sequence)\.editor$/, "true"],
  [/^core\.pager$/, "cat"],
  [/^pager\./, "false"],
  [/^interactive\.difffilter$/, "cat"],
  [/^diff\.external$|^diff\..*\.command$/s, plainDiff],
  [/^diff\..*\.textconv$/s, "cat"],
  [/^filter\..*\.(clean|smudge|process)$/s, ""],
  [/^filter\..*\.required$/s, "false"],
  [/^merge\..*\.driver$/s, "git merge-file %A %O %B"],
  [/^alias\./, ""],
  [/^gpg\.(openpgp\.)?program$/, "gpg"],
  [/^gpg\.x509\.program$/, "gpgsm"],
  [/^gpg\.ssh\.program$/, "ssh-keygen"],
  [/^gpg\.ssh\.defaultkeycommand$/, "true"],
  [/^submodule\..*\.update$/s, "checkout"],
  [/^(difftool|mergetool|guitool|browser|man)\..*\.(cmd|path)$/s, "true"],
  [/^trailer\..*\.(command|cmd)$/s, ":"],
  [/^tar\..*\.command$/s, "cat"],
]
const helper = /^credential\.(.*\.)?helper$/s
/** Settings that no value turns off. */
const permanent = /^gc\.recentobjectshook$/

/** Reading git commands run without a question, so they show only the commits of submodules, whose `.git` may name any
 * repository. */
export const shown: readonly [key: string, value: string][] = [
  ["diff.submodule", "short"],
  ["status.submoduleSummary", "false"],
]

/** The settings to override. The value is the person's own if there is one, else one that runs nothing of the
 * repository. */
export function overrides(entries: Entry[]): [key: string, value: string][] {
  const theirs = Map.groupBy(
    entries.filter(({ isOwn }) => !isOwn),
    ({ key }) => key,
  )
  const last = (key: string) => theirs.get(key)?.at(-1)?.value
  const hooks = last("core.hookspath") ?? ""
  const pairs: [string, string][] = [
    ...shown,
    ["safe.bareRepository", "explicit"],
    ["core.hookspath", isAbsolute(hooks) ? hooks : "/dev/null"],
  ]
  const own = new Set(entries.filter(({ isOwn }) => isOwn).map(({ key }) => key))
  // Always override these: repositories below this one may set them, and their configuration was not read.
  for (const key of ["core.fsmonitor", "core.sshcommand", "core.askpass", "gpg.program", "credential.helper"])
    own.add(key)
  for (const key of own) {
    // An empty value clears the helpers before it.
    if (helper.test(key))
      pairs.push([key, ""], ...(theirs.get(key) ?? []).map(({ value }) => [key, value] as [string, string]))
    else {
      const value = off.find(([pattern]) => pattern.test(key))?.[1]
      if (value !== undefined) pairs.push([key, last(key) ?? value])
    }
  }
  return pairs
}

/** A setting of the repository that cannot be turned off. */
export function lastingSetting(entries: Entry[]): string | undefined {
  return entries.find(({ key, isOwn }) => isOwn && permanent.test(key))?.key
}

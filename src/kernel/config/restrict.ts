// Removes settings that a layer may not have: an untrusted file must not widen what runs or where requests go, and
// only the person may name a remote configuration or instruction files of their own. Removed settings are reported.
import { isAbsolute, win32 } from "node:path"
import { isPlain, type Raw } from "#kernel/schema/check.ts"
import { formatPath } from "#kernel/schema/invalid.ts"
import type { Path } from "#util/parse/jsonc.ts"

export type Ignored = { source: string; key: string; reason: string }
type Ignore = (path: Path, detail?: string) => void

const outside = 'it is not a relative path without ".."'
// Limits the report: a hostile file could have a hundred thousand settings.
const maxNamed = 100

/** The keys that an untrusted folder may set, each with what remains of its value (undefined: nothing). The agent is not
 * among them: an agent of the person's own may allow more than the default one. */
const allowed: Record<string, (value: unknown, ignore: Ignore, key: string) => unknown> = {
  $schema: (value) => value,
  model: (value) => value,
  permission: restrictRules,
  provider: defaultOnly,
  skills: restrictRoot,
  rules: restrictRoot,
}

/** What remains of the settings of an untrusted file. `untrusted` is the reason to report. */
export function restrictUntrusted(
  value: Raw,
  source: string,
  untrusted: string,
): { value: Raw; ignored: Ignored[] } {
  const kept: Raw = {}
  const ignored: Ignored[] = []
  let more = 0
  const ignore: Ignore = (path, detail) => {
    const reason = detail ? `${detail}, and ${untrusted}` : untrusted
    if (ignored.length < maxNamed) ignored.push({ source, key: formatPath(path), reason })
    else more++
  }
  for (const [key, item] of Object.entries(value)) {
    const restrict = Object.hasOwn(allowed, key) ? allowed[key] : undefined
    if (!restrict) {
      ignore([key])
      continue
    }
    const rest = restrict(item, ignore, key)
    if (rest !== undefined) kept[key] = rest
  }
  if (more > 0) ignored.push({ source, key: `and ${more} more`, reason: untrusted })
  return { value: kept, ignored }
}

/** Removes the keys that only the person may set: `remote`, and `rules.own`, which may name any file. An inline layer is
 * the person's own, but it is read too late to name a remote configuration. */
export function restrictOwn(value: Raw, source: string): { value: Raw; ignored: Ignored[] } {
  const { remote, ...rest } = value
  const ignored: Ignored[] = []
  if (remote !== undefined) {
    const reason = "a remote configuration is named in the global file or in VITAMIN_CONFIG only"
    ignored.push({ source, key: "remote", reason })
  }
  if (source !== "inline" && isPlain(rest.rules) && rest.rules.own !== undefined) {
    const { own: _, ...rules } = rest.rules
    rest.rules = rules
    const reason = "files of your own are named in the global file, in VITAMIN_CONFIG or with --set only"
    ignored.push({ source, key: "rules.own", reason })
  }
  return { value: rest, ignored }
}

function restrictRules(value: unknown, ignore: Ignore, key: string): unknown {
  if (!Array.isArray(value)) return undefined
  return value.filter((rule, i) => {
    const narrows = rule.action === "deny" || rule.action === "ask"
    if (!narrows) ignore([key, i])
    return narrows
  })
}

function defaultOnly(value: unknown, ignore: Ignore, key: string): unknown {
  if (!isPlain(value)) return undefined
  const { default: chosen, ...providers } = value
  for (const id of Object.keys(providers)) ignore([key, id])
  return chosen === undefined ? undefined : { default: chosen }
}

function restrictRoot(value: unknown, ignore: Ignore, key: string): unknown {
  if (!isPlain(value)) return undefined
  const { root, ...rest } = value
  for (const name of Object.keys(rest)) ignore([key, name])
  if (root === undefined) return {}
  if (typeof root === "string" && staysBelow(root)) return { root }
  return ignore([key, "root"], outside)
}

function staysBelow(path: string): boolean {
  if (isAbsolute(path) || win32.isAbsolute(path) || /^(~|[a-z]:)/i.test(path)) return false
  return !path.includes("\0") && !path.split(/[/\\]/).includes("..")
}

// What a layer may not say: a folder that nobody trusted cannot widen what runs, and only the person's own files may
// name a remote configuration. Whatever is taken out is named, never passed over in silence.
import { isPlain, type Raw } from "./check.ts"
import { formatPath } from "./invalid.ts"

export type Ignored = { source: string; key: string; reason: string }

const untrusted = 'the folder is not trusted; "vitamin trust" trusts it'

/** The settings of an untrusted folder without those that decide what runs or where requests go. */
export function restrictUntrusted(value: Raw, source: string): { value: Raw; ignored: Ignored[] } {
  const rest = structuredClone(value)
  const ignored: Ignored[] = []
  const note = (...path: (string | number)[]) =>
    ignored.push({ source, key: formatPath(path), reason: untrusted })
  const take = (owner: unknown, key: string, path: string[]) => {
    if (!isPlain(owner) || !Object.hasOwn(owner, key)) return
    delete owner[key]
    note(...path, key)
  }
  if (Array.isArray(rest.permission)) {
    for (const [i, rule] of rest.permission.entries()) if (rule.action === "allow") note("permission", i)
    rest.permission = rest.permission.filter((rule) => rule.action !== "allow")
  }
  for (const [id, settings] of Object.entries(isPlain(rest.provider) ? rest.provider : {})) {
    if (!isPlain(settings)) continue
    for (const key of ["baseURL", "headers"]) {
      take(settings, key, ["provider", id])
      for (const [name, model] of Object.entries(isPlain(settings.models) ? settings.models : {}))
        take(model, key, ["provider", id, "models", name])
    }
  }
  for (const key of ["mcp", "environment"]) take(rest, key, [])
  take(rest.adapters, "sandbox", ["adapters"])
  return { value: rest, ignored }
}

/** A layer without its `remote` key. */
export function withoutRemote(value: Raw, source: string): { value: Raw; ignored: Ignored[] } {
  if (!Object.hasOwn(value, "remote")) return { value, ignored: [] }
  const { remote: _, ...rest } = value
  const reason = "a remote configuration is named in the global file or in VITAMIN_CONFIG only"
  return { value: rest, ignored: [{ source, key: "remote", reason }] }
}

/** What is said of a project's TypeScript file that was not loaded. */
export function ignoredFile(name: string, source: string): Ignored {
  return { source, key: name, reason: untrusted }
}

// Layers into one value, lowest first: objects merge by key, lists replace, permission rules follow one another.
import { isPlain, type Raw } from "#kernel/schema/check.ts"
import { formatPath } from "#kernel/schema/invalid.ts"

/** Key path of every single setting → the layer that it came from, or "default". */
export type Origins = Record<string, string>

type Layer = { source: string; value: Raw }

export function mergeLayers(layers: Layer[]): Raw {
  const merged: Raw = {}
  for (const { value } of layers) mergeInto(merged, value)
  if (Object.hasOwn(merged, "permission")) merged.permission = layers.flatMap(rulesOf)
  return merged
}

/** Where each part of the finished config came from: the highest layer that has it. */
export function findOrigins(config: Raw, layers: Layer[]): Origins {
  const origins: Origins = {}
  const visit = (value: unknown, path: string[]) => {
    if (isPlain(value) && (Object.keys(value).length > 0 || path.length === 0))
      for (const [name, item] of Object.entries(value)) visit(item, [...path, name])
    else origins[formatPath(path)] = layers.findLast((layer) => has(layer.value, path))?.source ?? "default"
  }
  const { permission, ...rest } = config
  visit(rest, [])
  const ruleSources = layers.flatMap((layer) => rulesOf(layer).map(() => layer.source))
  for (const [i, source] of ruleSources.entries()) origins[formatPath(["permission", i])] = source
  return origins
}

function mergeInto(target: Raw, from: Raw) {
  for (const [name, item] of Object.entries(from)) {
    if (name === "__proto__") continue
    if (!isPlain(item)) {
      target[name] = item
      continue
    }
    // A fresh object even where there is none below: no layer is changed by the one above it.
    const below = Object.hasOwn(target, name) ? target[name] : undefined
    const own = isPlain(below) ? below : {}
    target[name] = own
    mergeInto(own, item)
  }
}

function has(value: unknown, path: string[]): boolean {
  for (const step of path) {
    if (!isPlain(value) || !Object.hasOwn(value, step)) return false
    value = value[step]
  }
  return true
}

function rulesOf({ value }: Layer): unknown[] {
  return Array.isArray(value.permission) ? value.permission : []
}

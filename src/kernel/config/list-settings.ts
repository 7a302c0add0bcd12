// The settings of a configuration as a flat list: each value with its key path and the layer that it comes from.
import { parsePath } from "#kernel/schema/invalid.ts"
import type { Info } from "#kernel/schema/schema.ts"
import { redacted } from "#kernel/schema/secrets.ts"
import type { Origins } from "./layers.ts"

/** `key` as in messages: `permission[0]`, `provider["my.id"].apiKey`. Secrets are redacted. */
export type Setting = { key: string; value: unknown; source: string }

export function listSettings({ config, origins }: { config: Info; origins: Origins }): Setting[] {
  const shown = redacted(config)
  return Object.entries(origins).map(([key, source]) => ({ key, value: valueAt(shown, key), source }))
}

function valueAt(config: unknown, key: string): unknown {
  const steps = parsePath(key) ?? []
  return steps.reduce<unknown>(
    (value, step) => (value as Record<string, unknown> | undefined)?.[step],
    config,
  )
}

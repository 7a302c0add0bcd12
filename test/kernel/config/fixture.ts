// Shared by the configuration tests: writing configuration files, an instance, bounded waiting.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Bus from "#kernel/bus/bus.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"

export function writeGlobal(content: string | Uint8Array): string {
  const file = join(Global.config(), "vitamin.jsonc")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

/** Run with `VITAMIN_CONFIG` set. */
export async function withVariable<T>(value: string, fn: () => Promise<T>): Promise<T> {
  process.env.VITAMIN_CONFIG = value
  try {
    return await fn()
  } finally {
    delete process.env.VITAMIN_CONFIG
  }
}

/** Run in an instance that is disposed afterwards, with the `config.changed` events that were seen. */
export async function inInstance(
  directory: string,
  fn: (changes: string[][]) => Promise<void>,
): Promise<void> {
  await Instance.provide({
    directory,
    fn: async () => {
      const changes: string[][] = []
      Bus.subscribe(Config.Changed, ({ sources }) => changes.push(sources))
      try {
        await fn(changes)
      } finally {
        await Instance.dispose()
      }
    },
  })
}

/** The problems of a config that must be refused. */
export async function problemsOf(
  load: () => Promise<unknown>,
): Promise<{ message: string; problems: Config.Problem[] }> {
  try {
    await load()
  } catch (error) {
    assert.ok(error instanceof Config.Invalid, String(error))
    return { message: error.message, problems: error.data.problems }
  }
  assert.fail("the config was accepted")
}

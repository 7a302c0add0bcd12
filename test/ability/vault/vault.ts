// A project with a vault: calls of its tools through the gate, and the vault's file.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Result } from "#ability/tool/run-tool.ts"
import type { Json } from "#ability/tool/tool.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { call, free, inProject } from "../tool/harness.ts"

export const passphrase = "correct horse battery"

/** Runs `fn` with a passphrase in the environment. */
export async function inVault(fn: (tmp: Tmp) => Promise<void>): Promise<void> {
  process.env.VITAMIN_VAULT_PASSPHRASE = passphrase
  try {
    await inProject(async (tmp) => {
      await loadToolGroups()
      await fn(tmp)
    })
  } finally {
    delete process.env.VITAMIN_VAULT_PASSPHRASE
  }
}

export function use(name: string, args: Json = {}): Promise<Result> {
  return Secret.inSession("ses_1", () => call(name, args, { slots: free }))
}

/** Stores a value that is in a file of the project. */
export function store(tmp: Tmp, name: string, value: string | Uint8Array): Promise<Result> {
  tmp.write(`given-${name}`, value)
  return use("secrets_set", { name, from: { file: `given-${name}` } })
}

/** Runs `fn` as a process would that has not opened the vault yet. */
export async function elsewhere<T>(tmp: Tmp, fn: () => Promise<T>): Promise<T> {
  tmp.write("other/README.md", "another project")
  return Instance.provide({
    directory: join(tmp.path, "other"),
    async fn() {
      await loadToolGroups()
      return fn()
    },
  })
}

export function vaultFile(tmp: Tmp): string {
  return join(tmp.env.XDG_DATA_HOME!, "vitamin", "vault")
}

export function readVault(tmp: Tmp): Buffer {
  return readFileSync(vaultFile(tmp))
}

export function writeVault(tmp: Tmp, bytes: Uint8Array | string): void {
  writeFileSync(vaultFile(tmp), bytes)
}

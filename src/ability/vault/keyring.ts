// The keyring of the system, through its own program: `secret-tool` (Secret Service) on Linux, `security` on macOS. A key
// goes through stdin, never onto a command line.
import { findProgram } from "#ability/shell/environment.ts"
import * as Env from "#kernel/process/env.ts"
import { childProcess } from "#util/process.ts"

/** A locked keyring asks the person in a window of its own. */
const patience = 60_000

/** Stores a key, and reads it again to be sure. False if there is no keyring, or it does not work. */
export async function store(id: string, key: Buffer): Promise<boolean> {
  const value = key.toString("base64")
  const done =
    process.platform === "darwin"
      ? await run(["security"], ["-i"], `add-generic-password -U -s vitamin -a ${id} -w ${value}\n`)
      : await run(["secret-tool"], ["store", "--label=vitamin vault", ...attributes(id)], value)
  return done !== undefined && (await lookup(id))?.equals(key) === true
}

/** The key; undefined if the keyring does not have it, or there is none. */
export async function lookup(id: string): Promise<Buffer | undefined> {
  const text =
    process.platform === "darwin"
      ? await run(["security"], ["find-generic-password", "-s", "vitamin", "-a", id, "-w"])
      : await run(["secret-tool"], ["lookup", ...attributes(id)])
  const key = Buffer.from((text ?? "").trim(), "base64")
  return key.length === 32 ? key : undefined
}

export async function remove(id: string): Promise<void> {
  if (process.platform === "darwin")
    await run(["security"], ["delete-generic-password", "-s", "vitamin", "-a", id])
  else await run(["secret-tool"], ["clear", ...attributes(id)])
}

function attributes(id: string): string[] {
  return ["service", "vitamin", "vault", id]
}

/** What the program printed; undefined if it is missing or fails. */
async function run(names: string[], args: string[], input = ""): Promise<string | undefined> {
  const file = findProgram(...names)
  if (!file) return undefined
  return new Promise((resolve) => {
    const child = childProcess().execFile(
      file,
      args,
      { env: Env.forChild(), timeout: patience },
      (error, stdout) => resolve(error ? undefined : stdout),
    )
    // A program that does not read its input ends early.
    child.stdin?.on("error", () => {}).end(input)
  })
}

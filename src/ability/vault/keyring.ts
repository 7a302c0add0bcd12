// The keyring of the system, through its own program: `secret-tool` (Secret Service) on Linux, `security` on macOS. A key
// goes through stdin, never onto a command line.
import * as Env from "#kernel/process/env.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import { childProcess } from "#util/process.ts"

/** A locked keyring asks the person in a window of its own. */
const patience = 60_000
const checkLimit = 5_000
const passphrase = `set ${Env.vaultPassphrase}, or type a passphrase when the vault is first used`

/** Stores a key, and reads it again to be sure. False if there is no keyring, or it does not work. */
export async function store(id: string, key: Buffer): Promise<boolean> {
  const value = key.toString("base64")
  const done =
    process.platform === "darwin"
      ? await run("security", ["-i"], `add-generic-password -U -s vitamin -a ${id} -w ${value}\n`)
      : await run("secret-tool", ["store", "--label=vitamin vault", ...attributes(id)], value)
  return done !== undefined && (await lookup(id))?.equals(key) === true
}

/** The key; undefined if the keyring does not have it, or there is none. */
export async function lookup(id: string): Promise<Buffer | undefined> {
  const text =
    process.platform === "darwin"
      ? await run("security", ["find-generic-password", "-s", "vitamin", "-a", id, "-w"])
      : await run("secret-tool", ["lookup", ...attributes(id)])
  const key = Buffer.from((text ?? "").trim(), "base64")
  return key.length === 32 ? key : undefined
}

export async function remove(id: string): Promise<void> {
  if (process.platform === "darwin")
    await run("security", ["delete-generic-password", "-s", "vitamin", "-a", id])
  else await run("secret-tool", ["clear", ...attributes(id)])
}

/** Why there is no keyring that can be used, and what to do; undefined if there is one. Asks for a key that nobody has, so that
 * nothing is stored and no window opens. */
export async function findProblem(): Promise<{ what: string; todo: string } | undefined> {
  const isMac = process.platform === "darwin"
  const program = isMac ? "security" : "secret-tool"
  const install = isMac ? "" : "install libsecret (Debian, Ubuntu: apt install libsecret-tools), or "
  if (!findProgram([program])) return { what: `${program} is not installed`, todo: install + passphrase }
  const id = "doctor"
  const asked = isMac ? ["find-generic-password", "-s", "vitamin", "-a", id] : ["lookup", ...attributes(id)]
  const { code, errors } = (await call(program, asked, { limit: checkLimit }))!
  // It says that there is no such key: `security` with a code of its own, `secret-tool` without a word.
  if (code === 0 || (isMac ? code === 44 : code === 1 && errors === "")) return undefined
  const said = errors.split("\n")[0] || (code === undefined ? "it does not answer" : `exit code ${code}`)
  return {
    what: `${program} cannot reach it: ${said}`,
    todo: `unlock or start the keyring, or ${passphrase}`,
  }
}

function attributes(id: string): string[] {
  return ["service", "vitamin", "vault", id]
}

/** What the program printed; undefined if it is missing or fails. */
async function run(program: string, args: string[], input = ""): Promise<string | undefined> {
  const called = await call(program, args, { input, limit: patience })
  return called?.code === 0 ? called.output : undefined
}

/** Undefined if the program is missing. It has no code if it was ended. */
async function call(
  program: string,
  args: string[],
  { input = "", limit }: { input?: string; limit: number },
): Promise<{ code: number | undefined; output: string; errors: string } | undefined> {
  const file = findProgram([program])
  if (!file) return undefined
  return new Promise((resolve) => {
    const child = childProcess().execFile(
      file,
      args,
      { env: Env.forChild(), timeout: limit },
      (error, output, errors) => {
        const code = error ? (typeof error.code === "number" ? error.code : undefined) : 0
        resolve({ code, output, errors: errors.trim() })
      },
    )
    // A program that does not read its input ends early.
    child.stdin?.on("error", () => {}).end(input)
  })
}

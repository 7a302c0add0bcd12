// The line of `vitamin doctor` about the keyring of the system, which keeps the key of the vault.
import * as Keyring from "#ability/vault/keyring.ts"
import * as Env from "#kernel/process/env.ts"
import type { Finding } from "./doctor.ts"

const about = "keyring"

export async function findKeyring(): Promise<Finding[]> {
  if (Env.get(Env.vaultPassphrase))
    return [{ state: "ok", about, text: `not needed: ${Env.vaultPassphrase} opens the vault` }]
  const problem = await Keyring.findProblem()
  if (!problem) return [{ state: "ok", about, text: "of the system, for the key of the vault" }]
  return [
    {
      state: "note",
      about,
      text: `the vault cannot use that of the system: ${problem.what}`,
      todo: problem.todo,
    },
  ]
}

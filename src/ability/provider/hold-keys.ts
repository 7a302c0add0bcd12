// Every key that could be a provider's, used or not, is held before anything is written or run: a person has several in
// the environment, and a command or a model can show any of them.
import * as Env from "#kernel/env.ts"
import * as Secret from "#kernel/secret.ts"
import { storedKeys, UnsafeLogins } from "./auth-file.ts"
import { providers } from "./providers.ts"

export function holdKeys(): void {
  for (const [id, { env }] of Object.entries(providers))
    for (const name of env) Secret.hold(Env.get(name)?.trim(), `${id} key`)
  for (const [id, key] of loggedIn()) Secret.hold(key, `${id} key`)
}

/** A file that cannot be relied on gives no keys, and says so where one is needed. */
function loggedIn(): [id: string, key: string][] {
  try {
    return storedKeys()
  } catch (error) {
    if (error instanceof UnsafeLogins) return []
    throw error
  }
}

// Every key that could be a provider's, used or not, is held before anything is written or run: a person has several in
// the environment, and a command or a model can show any of them. So are the keys, logins and the token in our files.
import * as Env from "#kernel/process/env.ts"
import * as Secret from "#kernel/process/secret.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { providers } from "./providers.ts"

export function redactKeys(): void {
  for (const [id, { env }] of Object.entries(providers))
    for (const name of env) Secret.hold(Env.get(name)?.trim(), `${id} key`)
  SecretFiles.hold()
}

// Registers the keys of all providers for redaction, used or not, because a command or a model can print any key of the
// environment; and the keys, logins and the token in our files.
import { providers } from "#ability/provider/reach/providers.ts"
import * as Env from "#kernel/process/env.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import * as Secret from "#kernel/secret/secret.ts"

export function redactKeys(): void {
  for (const [id, { env }] of Object.entries(providers))
    for (const name of env) Secret.register(Env.get(name)?.trim(), `${id} key`)
  SecretFiles.register()
}

// The last look before something leaves for an editor, which keeps logs of its own. Events have had theirs; records of
// earlier times and files have not.
import * as Secret from "#kernel/secret.ts"

export function withoutSecrets<T>(value: T): T {
  const json = JSON.stringify(value)
  return Secret.reveals(json) ? JSON.parse(Secret.redactJson(json)) : value
}

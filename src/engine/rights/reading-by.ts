// What the rules of a session say about reading a file, for what is told to the model without a call. A file that people
// keep secrets in is left out unless a rule names it.
import * as Permission from "#ability/permission/permission.ts"
import type { Rights } from "./rights.ts"

export async function readingBy(rights: Rights): Promise<(path: string) => Permission.Action> {
  const { decide } = await rights.now()
  return (target) => {
    const decision = decide({ permission: "file.read", target })
    if (!Permission.isSecretFile(target)) return decision.action
    return Permission.guarded(decision).action === "allow" ? "allow" : "deny"
  }
}

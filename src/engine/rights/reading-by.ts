// Whether a session's rules allow reading a file that is sent to the model without a call. Files that usually contain
// secrets are left out unless a rule names them.
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

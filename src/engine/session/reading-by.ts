// What the rules of a session say about reading a file, for what is told to the model without a call.
import type { Action } from "#ability/permission/rule.ts"
import type { Rights } from "./rights.ts"

export async function readingBy(rights: Rights): Promise<(path: string) => Action> {
  const { decide } = await rights.now()
  return (target) => decide({ permission: "file.read", target }).action
}

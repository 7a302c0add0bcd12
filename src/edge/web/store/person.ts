// What the person of this browser may do. The owner of the server may do everything; other people have a role, and a part in
// sessions that are shared with them. The server decides; the page only leaves out what it would refuse.
import { effect, signal } from "@preact/signals"
import type { Info, Session } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { connection } from "./live.ts"
import { report } from "./problems.ts"

/** Undefined for the owner. */
const person = signal<Info["person"]>(undefined)

effect(() => {
  if (connection.value !== "open") return
  clientFor()
    .getInfo()
    .then((info) => {
      person.value = info.person
    }, report)
})

export function may(role: "member" | "admin"): boolean {
  const own = person.value?.role
  return own === undefined || own === "admin" || own === role
}

/** Whether the person may prompt a session, answer its questions and change it. */
export function mayChange({ person: owner, shared }: Pick<Session, "person" | "shared">): boolean {
  if (may("admin")) return true
  const { name } = person.value!
  return may("member") && (owner === name || shared?.[name] === "member")
}

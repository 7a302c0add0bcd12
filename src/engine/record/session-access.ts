// What the person on whose behalf code runs may do with a session. The owner of the server and admins may do everything.
import * as Person from "#kernel/person.ts"
import { type Access, accessOf } from "#kernel/session-access.ts"
import { NamedError } from "#util/error.ts"
import type { Info } from "./session-info.ts"

type Find = (sessionId: string) => Promise<Info | undefined>

const order: readonly Access[] = ["reader", "member", "owner"]

class Denied extends NamedError {
  constructor(sessionId: string, needed: Access) {
    const who =
      needed === "owner" ? "its owner or an admin" : "its owner, an admin, or a member with whom it is shared"
    super("Session.Denied", `Only ${who} may do this with session ${sessionId}.`, { sessionId, needed })
  }
}

/** Throws `Session.Denied` if the person may not do so much with a session that they see. */
export async function checkAccess(session: Info, needed: Access, find: Find): Promise<void> {
  const person = Person.limited()
  const access = person ? await accessOf(session, person, find) : "owner"
  if (!access || order.indexOf(access) < order.indexOf(needed)) throw new Denied(session.id, needed)
}

export async function isVisible(session: Info, find: Find): Promise<boolean> {
  const person = Person.limited()
  return !person || (await accessOf(session, person, find)) !== undefined
}

export async function visibleOf(sessions: Info[], find: Find): Promise<Info[]> {
  if (!Person.limited()) return sessions
  const visible = await Promise.all(sessions.map((session) => isVisible(session, find)))
  return sessions.filter((_, at) => visible[at])
}

/** The person of a new session. A task has none of its own. */
export function ownPerson({ taskOf }: Pick<Info, "taskOf">): Pick<Info, "person"> {
  const person = taskOf ? undefined : Person.current()
  return person ? { person: person.name } : {}
}

/** On whose behalf a prompt runs: of the person who sent it, if some sessions are hidden from them; otherwise of the
 * person of the session, so that the owner's rights bring no session of others into it. */
export function personOf({ person }: Pick<Info, "person">): Person.Person | undefined {
  return (
    Person.limited() ?? (person === undefined ? undefined : { name: person, role: "member", tokenId: "" })
  )
}

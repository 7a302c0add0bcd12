// A session, then the one that it does a task for, and so on up to the one that a person talks to. What a client brought
// with one of them is there for all before it.
import * as SessionRecord from "./session-record.ts"

type Link = Pick<SessionRecord.Info, "id" | "taskOf">

/** Ends where a record is missing. */
export async function lineOf(session: Link): Promise<string[]> {
  const line = new Set<string>()
  for (let link: Link | undefined = session; link && !line.has(link.id); link = await above(link))
    line.add(link.id)
  return [...line]
}

async function above({ taskOf }: Link): Promise<Link | undefined> {
  if (!taskOf) return undefined
  try {
    return await SessionRecord.get(taskOf.sessionId)
  } catch (error) {
    if (error instanceof SessionRecord.NotFound || error instanceof SessionRecord.Invalid) return undefined
    throw error
  }
}

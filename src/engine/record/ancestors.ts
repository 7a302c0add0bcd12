// A session, its parent session (which gave it a task), and so on up to the session of a person. MCP servers that a client
// brings with one of them are available to those below it.
import * as SessionRecord from "./session-record.ts"

type Link = Pick<SessionRecord.Info, "id" | "taskOf">

/** The list ends at a missing record. */
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

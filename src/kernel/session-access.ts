// Who may see and use a session, by its record: the person who created it, and those with whom it is shared. A task belongs
// to those of the session that gave it. Sessions without a person belong to the owner of the server.

/** `reader`: may look; `member`: may prompt and answer; `owner`: may also share and remove. */
export type Access = "reader" | "member" | "owner"
/** The part of a session record that decides. */
export type Owned = {
  person?: string | undefined
  shared?: Record<string, "reader" | "member"> | undefined
  taskOf?: { sessionId: string } | undefined
}
type Find = (sessionId: string) => Promise<Owned | undefined> | Owned | undefined

const maxDepth = 50

/** Undefined if the session is hidden from the person. */
export async function accessOf(
  session: Owned,
  { name }: { name: string },
  find: Find,
): Promise<Access | undefined> {
  const root = await rootOf(session, find)
  if (root?.person === name) return "owner"
  return root?.shared && Object.hasOwn(root.shared, name) ? root.shared[name] : undefined
}

/** The session that a person created. Undefined if one on the way is gone: then nobody but the owner sees the task. */
async function rootOf(session: Owned, find: Find): Promise<Owned | undefined> {
  let at: Owned | undefined = session
  for (let depth = 0; at?.taskOf && depth < maxDepth; depth++) at = await find(at.taskOf.sessionId)
  return at?.taskOf ? undefined : at
}

// What a person may call: the role that the route needs, the role in the session that its path names, and for readers the
// folders that they may look into.
import { forbidden } from "#edge/server/http/refusal.ts"
import type { Route } from "#edge/server/http/route.ts"
import * as Person from "#kernel/person.ts"
import { realDirectory } from "#kernel/real-directory.ts"

export function checkRole({ role: needed }: Pick<Route, "role">): void {
  const role = Person.current()?.role
  if (role && needed !== "open" && !Person.includes(role, needed)) throw forbidden(needed, role)
}

/** Checks the session before anything of the route runs: some handlers act before they read the session. */
export async function checkSession(route: Route, params: unknown): Promise<void> {
  if (!Person.limited() || !route.path.startsWith("/session/:id")) return
  const { getFor } = await import("#engine/session/session.ts")
  const needed = route.isOwners ? "owner" : route.role === "reader" ? "reader" : "member"
  await getFor((params as { id: string }).id, needed)
}

/** A member can have commands run, in any folder. A reader sees the folder of the server and those of sessions that are
 * shared with them; otherwise they could list the files of the whole machine. */
export async function checkFolder(directory: string, own: string): Promise<void> {
  const person = Person.limited()
  if (person?.role !== "reader" || directory === realDirectory(own)) return
  const { list } = await import("#engine/session/session.ts")
  const sessions = await list({ everywhere: true, tasks: true })
  if (!sessions.some((session) => session.directory === directory)) throw forbidden("member", person.role)
}

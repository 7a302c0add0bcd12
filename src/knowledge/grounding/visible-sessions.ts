// Which sessions the person on whose behalf code runs may see.
import * as Person from "#kernel/person.ts"
import { accessOf, type Owned } from "#kernel/session-access.ts"
import * as Storage from "#kernel/storage/storage.ts"

/** Their ids, of all projects; undefined if all may be seen. */
export async function visibleSessions(): Promise<Set<string> | undefined> {
  const person = Person.limited()
  if (!person) return undefined
  const all = new Map<string, Owned>()
  for (const project of await Storage.list(["session"]))
    await Storage.readAll<Owned>(["session", project], (session, id) => void all.set(id, session))
  const visible = new Set<string>()
  for (const [id, session] of all)
    if (await accessOf(session, person, (other) => all.get(other))) visible.add(id)
  return visible
}

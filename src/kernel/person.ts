// The person on whose behalf code runs, found through AsyncLocalStorage: a server sets it for each request that shows a
// personal token. Without one, code runs for the owner of the server, who may do everything.
import { AsyncLocalStorage } from "node:async_hooks"
import { z } from "zod"

export const Role = z.enum(["reader", "member", "admin"])
export type Role = z.infer<typeof Role>

export type Person = {
  name: string
  role: Role
  /** The token by which the person is known, not its secret. */
  tokenId: string
}

const store = new AsyncLocalStorage<Person | undefined>()

/** Run `fn` on behalf of a person; undefined: of the owner. */
export function run<T>(person: Person | undefined, fn: () => T): T {
  return store.run(person, fn)
}

/** The person who asked; undefined if it is the owner, or a program of the owner. */
export function current(): Person | undefined {
  return store.getStore()
}

/** The person, if some sessions are hidden from them. The owner and admins see all. */
export function limited(): Person | undefined {
  const person = current()
  return person && person.role !== "admin" ? person : undefined
}

/** Whether a role includes what another one may do. */
export function includes(role: Role, needed: Role): boolean {
  return Role.options.indexOf(role) >= Role.options.indexOf(needed)
}

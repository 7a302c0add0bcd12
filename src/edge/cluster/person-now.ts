// The person of a prompt or a schedule as they are when it runs: since it was accepted, their token may have been revoked, or
// their role changed.
import { PersonalToken } from "#edge/server/people.ts"
import * as Person from "#kernel/person.ts"
import { NamedError } from "#util/error.ts"

export class Denied extends NamedError {
  constructor(reason: string) {
    super("Person.Denied", reason)
  }
}

/** Without a name: the owner. */
export async function personNow(name: string | undefined): Promise<Person.Person | undefined> {
  if (name === undefined) return undefined
  const person = await PersonalToken.get(name).catch((error) => {
    const isRevoked = error instanceof NamedError && error.name === "PersonalToken.NotFound"
    throw isRevoked ? new Denied(`the token of ${name} was revoked or has expired.`) : error
  })
  if (!Person.includes(person.role, "member"))
    throw new Denied(`${name} has the role ${person.role}, and needs the role member.`)
  return person
}

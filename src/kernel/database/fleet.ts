// The name of the fleet: the servers that share a database on purpose. The first server writes it into the tables, and a
// server with another name is refused, so that two fleets never mix their sessions by a wrong address.
import * as Env from "#kernel/process/env.ts"
import { NamedError } from "#util/error.ts"

class InvalidFleet extends NamedError {
  constructor(name: string) {
    super(
      "Database.InvalidFleet",
      `VITAMIN_FLEET is refused: ${JSON.stringify(name.slice(0, 80))} is not a name of letters, digits, dots and hyphens, at most 63`,
    )
  }
}

/** Undefined if the servers have no name. */
export function readFleet(): string | undefined {
  const name = Env.get("VITAMIN_FLEET")
  if (name === undefined || name === "") return undefined
  if (!/^[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}$/.test(name)) throw new InvalidFleet(name)
  return name
}

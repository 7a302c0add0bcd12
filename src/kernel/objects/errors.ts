// What can be wrong with an object.
import { NamedError } from "#util/error.ts"

/** The tables name bytes that are no longer there, or are others. */
export class Damaged extends NamedError {
  constructor(name: string, reason: string) {
    super("Objects.Damaged", `The object ${name} cannot be used: ${reason}`, { name })
  }
}

// What the parent says to a guest that asks for something which its prompt does not have.
import { NamedError } from "#util/error.ts"

export class Refused extends NamedError {
  constructor(what: string) {
    super("Sandbox.Refused", `The sandbox does not give the agent ${what}.`)
  }
}

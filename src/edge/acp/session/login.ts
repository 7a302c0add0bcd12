// The way to log in that clients with a terminal are offered: they run their vitamin command again there.
import { InvalidParams } from "#edge/acp/wire/errors.ts"

export const login = {
  id: "login",
  name: "Log in to a provider",
  description: "Stores an API key for a model provider.",
  /** Appended to the command of the client. */
  args: ["--login"],
}

/** There is nothing to do beyond the check: a provider's key is looked up when a request needs it. */
export function checkMethod(methodId: string): Record<string, never> {
  if (methodId === login.id) return {}
  throw new InvalidParams(
    `Authentication method ${JSON.stringify(methodId.slice(0, 100))} does not exist. Available: ${login.id}`,
  )
}

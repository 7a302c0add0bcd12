// Asks the person for a secret in a form whose fields are not shown while they are typed. What is typed goes to the vault
// alone: no message, event or log has it.
import type { Context } from "#ability/call/types.ts"
import * as Elicitation from "#ability/elicitation/elicitation.ts"

/** `fields`: title by name. Returns what was typed; undefined if the person did not answer. */
export type Person = (question: {
  message: string
  fields: Record<string, string>
}) => Promise<Record<string, string> | undefined>

/** The person behind a call; undefined if nobody can be asked. */
export function personOf({ whileAsking, sessionId, signal }: Context): Person | undefined {
  if (!whileAsking) return undefined
  return async ({ message, fields }) => {
    const properties = Object.entries(fields).map(([name, title]) => [
      name,
      { type: "string", format: "password", title },
    ])
    const schema = { properties: Object.fromEntries(properties), required: Object.keys(fields) }
    const answer = await whileAsking(({ onlyListeners }) =>
      Elicitation.ask({ sessionId, signal, onlyListeners, question: { mode: "form", message, schema } }),
    )
    return answer?.action === "accept" ? (answer.content as Record<string, string>) : undefined
  }
}

// Questions that a client asks its person, each with one answer. The client returns the question's signed state with
// the answer. Open questions are also recorded here, until they are answered or expire, so no answer can be replayed.
// After a restart the question is asked again.
import { randomBytes, randomUUID } from "node:crypto"
import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server"

/** `key` identifies the call that needs consent, `question` the question. */
type State = { key: string; question: string }

export type Consents = Readonly<{
  /** Checks the signature of the state in a request. */
  verify: RequestStateCodec<State>["verify"]
  /** Open a question about `key`; returns the signed state for the client. */
  open(key: string): Promise<string>
  /** Whether the state belongs to an open question about `key`. Closes the question. */
  answer(state: State | undefined, key: string): boolean
}>

const ttlSeconds = 600
/** Above this number the oldest questions are dropped; their calls are asked about again. */
const maxOpen = 1_000

export function createConsents(): Consents {
  const codec = createRequestStateCodec<State>({ key: randomBytes(32), ttlSeconds })
  /** Open questions with the time of each, the oldest first. */
  const openQuestions = new Map<string, number>()

  async function open(key: string): Promise<string> {
    dropExpired()
    const question = randomUUID()
    openQuestions.set(question, Date.now())
    return codec.mint({ key, question })
  }

  function dropExpired(): void {
    const oldest = Date.now() - ttlSeconds * 1_000
    for (const [question, time] of openQuestions) {
      if (openQuestions.size < maxOpen && time > oldest) return
      openQuestions.delete(question)
    }
  }

  return Object.freeze({
    verify: codec.verify,
    open,
    answer: (state, key) => state?.key === key && openQuestions.delete(state.question),
  })
}

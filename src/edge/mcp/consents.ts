// Questions that a client takes to its person, each good for one answer. What the client carries between the two is signed,
// and a question is open here until it is answered or too old: no answer counts twice, and another process asks again.
import { randomBytes, randomUUID } from "node:crypto"
import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server"

/** What was asked for, and which question it was. */
type State = { key: string; question: string }

export type Consents = Readonly<{
  /** What the server checks the state of every request with. */
  verify: RequestStateCodec<State>["verify"]
  /** A question about `key`, as the client carries it. */
  open(key: string): Promise<string>
  /** Whether the state is that of an open question about `key`, which is then answered. */
  answer(state: State | undefined, key: string): boolean
}>

const ttlSeconds = 600
/** Of more questions the oldest are forgotten, and asked again. */
const maxOpen = 1_000

export function createConsents(): Consents {
  const codec = createRequestStateCodec<State>({ key: randomBytes(32), ttlSeconds })
  /** In the order in which they were asked, with the time of each. */
  const asked = new Map<string, number>()

  async function open(key: string): Promise<string> {
    forget()
    const question = randomUUID()
    asked.set(question, Date.now())
    return codec.mint({ key, question })
  }

  function forget(): void {
    const oldest = Date.now() - ttlSeconds * 1_000
    for (const [question, time] of asked) {
      if (asked.size < maxOpen && time > oldest) return
      asked.delete(question)
    }
  }

  return Object.freeze({
    verify: codec.verify,
    open,
    answer: (state, key) => state?.key === key && asked.delete(state.question),
  })
}

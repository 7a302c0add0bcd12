// Of those who want the same answer at the same time one computes it, and all hear it. A failure is that one's alone, who
// may only have given up: the next one then computes it in its own way.
import { normalise } from "./semantic-cache-request.ts"

type Answer = { response: string; cached: boolean }
type Answering = (query: string, compute: () => Promise<string>) => Promise<Answer>

export function shareAnswers(answer: Answering): Answering {
  const running = new Map<string, Promise<string | undefined>>()

  return async (query, compute) => {
    const key = normalise(query)
    for (let other = running.get(key); other; other = running.get(key)) {
      const response = await other
      if (response !== undefined) return { response, cached: true }
    }
    const own = answer(query, compute)
    const heard = own.then(
      ({ response }) => response,
      () => undefined,
    )
    running.set(
      key,
      heard.finally(() => running.delete(key)),
    )
    return own
  }
}

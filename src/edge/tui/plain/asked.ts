// The questions of plain mode, one after the other: a line answers the one that was shown last.

export type Asked = Readonly<{
  id: string
  show(): void
  /** Takes a line, without blanks around it unless it is secret. True if the question is answered. */
  take(line: string): Promise<boolean> | boolean
  /** Closes it without an answer. The agent waits for the answers to its own questions, so they have none. */
  close?(): void
  /** Whether it waits for a password now. */
  isSecret?(): boolean
}>

/** Milliseconds that a person needs to see that another question is open now. */
const timeToSee = 600

export type AskedQueue = ReturnType<typeof createAskedQueue>

/** `done`: no question is open any more. */
export function createAskedQueue({ done, report }: { done(): void; report(error: unknown): void }) {
  const waiting: Asked[] = []
  let current: Asked | undefined
  /** The answer that is on its way. */
  let pending: { asked: Asked; isOver: Promise<void> } | undefined
  /** A line that came before this time was typed for an earlier question. */
  let answerableAt = 0

  function next(delay = 0): void {
    current = waiting.shift()
    answerableAt = performance.now() + delay
    if (current) current.show()
    else done()
  }

  async function give(asked: Asked, line: string): Promise<void> {
    try {
      const isAnswered = await asked.take(asked.isSecret?.() ? line : line.trim())
      if (isAnswered && current === asked) next()
    } catch (error) {
      report(error)
    }
  }

  return Object.freeze({
    add(asked: Asked, { isNext = false } = {}): void {
      if (current?.id === asked.id || waiting.some(({ id }) => id === asked.id)) return
      waiting.splice(isNext ? 0 : waiting.length, 0, asked)
      if (!current) next()
    },
    /** It was answered elsewhere. */
    remove(id: string): void {
      const at = waiting.findIndex((asked) => asked.id === id)
      if (at >= 0) waiting.splice(at, 1)
      if (current?.id === id) next(pending?.asked === current ? 0 : timeToSee)
    },
    /** False if no question is open. */
    async answer(line: string): Promise<boolean> {
      const time = performance.now()
      while (pending) await pending.isOver
      const asked = current
      if (!asked) return false
      if (time < answerableAt) asked.show()
      else {
        const isOver = give(asked, line).finally(() => {
          pending = undefined
        })
        pending = { asked, isOver }
        await isOver
      }
      return true
    },
    isAsking: () => current !== undefined,
    /** How many wait behind the open one. */
    waiting: () => waiting.length,
    /** False if the open question cannot be closed. */
    close(): boolean {
      if (!current?.close) return false
      current.close()
      next()
      return true
    },
  })
}

// The questions of plain mode, one after the other: a line answers the one that was shown last.

export type Asked = Readonly<{
  id: string
  show(): void
  /** Takes a line without blanks around it. True if the question is answered. */
  take(line: string): Promise<boolean> | boolean
  /** Closes it without an answer. The agent waits for the answers to its own questions, so they have none. */
  close?(): void
}>

export type AskedQueue = ReturnType<typeof createAskedQueue>

/** `done`: no question is open any more. */
export function createAskedQueue({ done, report }: { done(): void; report(error: unknown): void }) {
  const waiting: Asked[] = []
  let current: Asked | undefined

  function next(): void {
    current = waiting.shift()
    if (current) current.show()
    else done()
  }

  return Object.freeze({
    add(asked: Asked): void {
      if (current?.id === asked.id || waiting.some(({ id }) => id === asked.id)) return
      waiting.push(asked)
      if (!current) next()
    },
    /** It was answered elsewhere. */
    remove(id: string): void {
      const at = waiting.findIndex((asked) => asked.id === id)
      if (at >= 0) waiting.splice(at, 1)
      if (current?.id === id) next()
    },
    /** False if no question is open. */
    async answer(line: string): Promise<boolean> {
      const asked = current
      if (!asked) return false
      try {
        if ((await asked.take(line)) && current === asked) next()
      } catch (error) {
        report(error)
      }
      return true
    },
    isAsking: () => current !== undefined,
    /** False if the open question cannot be closed. */
    close(): boolean {
      if (!current?.close) return false
      current.close()
      next()
      return true
    },
  })
}

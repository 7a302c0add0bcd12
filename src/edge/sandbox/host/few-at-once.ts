// Doors that answer few requests at once, and none while the guest has not read its earlier answers: it may ask for many
// large records in one go, and each of them takes the parent's memory.
type Door<T> = (args: unknown) => Promise<T>

/** Returns a function that makes such doors. They count together. */
export function fewAtOnce(most: number, drained: () => Promise<void>): <T>(door: Door<T>) => Door<T> {
  const waiting: (() => void)[] = []
  let running = 0

  return (door) => async (args) => {
    if (running < most) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      await drained()
      return await door(args)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

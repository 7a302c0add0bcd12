// Waits for work that may take too long: until a signal aborts, or for some milliseconds. The work itself may continue; its
// result or error is then dropped.

/** Settles as the work does, or rejects with the reason of the signal as soon as it aborts. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
}

/** Settles as the work does. Work that has not ended some milliseconds after the signal aborted is given up: then it
 * rejects with the reason of the signal. */
export async function orGivenUp<T>(
  work: Promise<T>,
  { signal, after }: { signal: AbortSignal; after: number },
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const abort = () => {
    timer = setTimeout(() => reject(signal.reason), after)
  }
  if (signal.aborted) abort()
  else signal.addEventListener("abort", abort, { once: true })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", abort)
  }
}

/** Resolves when the promise settles or the time is over. Keeps the process alive meanwhile. */
export async function waitAtMost(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** For a program that leaves: resolves when the work has ended, well or not, and after two seconds in any case. */
export async function finishSoon(work: Promise<unknown> | undefined): Promise<void> {
  if (work) await waitAtMost(2_000, work).catch(() => {})
}

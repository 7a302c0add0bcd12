// Waits for a promise with a time limit. The work behind it may continue.

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

// Waits for a promise with a time limit. The work behind it may continue.

/** Until the promise settles, or so many milliseconds. Keeps the process alive for as long. */
export async function waitAtMost(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

// Waits for work in a page, which may hang.
export class Late extends Error {}

/** Throws `Late` after this time. */
export async function bounded<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Late()), milliseconds)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}

// The time limit of a prompt in a sandbox. Its clock stands still while a person is asked.
export type Deadline = Readonly<{
  /** Aborts with the given signal, or when the time is up. */
  signal: AbortSignal
  /** Stops the clock until the returned function is called. */
  pause(): () => void
  end(): void
}>

export function createDeadline(given: AbortSignal, limit: number | undefined): Deadline {
  const abort = new AbortController()
  const follow = () => abort.abort(given.reason)
  let left = limit ?? Number.POSITIVE_INFINITY
  let since = performance.now()
  let timer: NodeJS.Timeout | undefined
  let pauses = 0

  function run(): void {
    since = performance.now()
    if (left === Number.POSITIVE_INFINITY || abort.signal.aborted) return
    const why = `its time was up (${limit! / 1000} s, the limit of the sandbox; --timeout sets another)`
    timer = setTimeout(() => abort.abort(why), left)
  }

  function pause(): () => void {
    if (pauses++ === 0) {
      clearTimeout(timer)
      left -= performance.now() - since
    }
    return () => {
      if (--pauses === 0) run()
    }
  }

  if (given.aborted) follow()
  given.addEventListener("abort", follow, { once: true })
  run()
  return Object.freeze({
    signal: abort.signal,
    pause,
    end() {
      clearTimeout(timer)
      given.removeEventListener("abort", follow)
    },
  })
}

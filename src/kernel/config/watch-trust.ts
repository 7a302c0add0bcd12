// Tells when trust in a work tree was given, changed or taken back, which a person does from another process. The record
// is polled, not watched.
import * as Reviewed from "#kernel/reviewed/reviewed.ts"

const interval = 1500

/** Calls `onChange` after a change; never keeps the process alive. Resolves to a function that stops it, which waits for a
 * read that is under way, so that Storage can be closed after it. */
export async function watchTrust(worktree: string, onChange: () => void): Promise<() => Promise<void>> {
  let stopped = false
  let polling: Promise<void> | undefined
  let known = await stamp()
  let timer = schedule()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await polling
  }

  function schedule() {
    return setTimeout(() => {
      polling = poll()
    }, interval).unref()
  }

  async function poll() {
    const now = await stamp()
    if (stopped) return
    timer = schedule()
    if (now === known) return
    known = now
    onChange()
  }

  /** A work tree that is gone has no trust. */
  async function stamp() {
    const reviewed = await Reviewed.of(worktree).catch(() => undefined)
    return reviewed?.stamp
  }
}

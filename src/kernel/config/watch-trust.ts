// Tells when trust in a work tree was given or taken back, which a person does from another process. It is asked for,
// not watched: a small file is read every now and then.
import * as Trust from "#kernel/trust.ts"

const interval = 1500

/** Calls `onChange` after a change; never keeps the process alive. Resolves to the way to stop, which waits for a look
 * that is under way, so that Storage can be closed after it. */
export async function watchTrust(worktree: string, onChange: () => void): Promise<() => Promise<void>> {
  let stopped = false
  let looking: Promise<void> | undefined
  let known = await isTrusted()
  let timer = schedule()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await looking
  }

  function schedule() {
    return setTimeout(() => {
      looking = look()
    }, interval).unref()
  }

  async function look() {
    const now = await isTrusted()
    if (stopped) return
    timer = schedule()
    if (now === known) return
    known = now
    onChange()
  }

  /** A work tree that is gone has no trust. */
  function isTrusted() {
    return Trust.check(worktree).catch(() => false)
  }
}

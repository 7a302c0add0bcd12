// Ends a prompt early: by its caller, or when its time is up.
import { AsyncLocalStorage } from "node:async_hooks"

/** The abort reason of a prompt whose time is up. */
export const timeIsUp = "its time was up (--timeout)"
const longestTimer = 2 ** 31 - 1

/** Connects the caller's signal and the time limit to a prompt. The returned function disconnects them when the
 * prompt is over. */
export function endWith(
  abort: AbortController,
  { signal, timeout, parent }: { signal?: AbortSignal; timeout?: number; parent?: unknown },
): () => void {
  // The caller may be outside the instance, and listeners need the instance.
  const follow = AsyncLocalStorage.bind(() => abort.abort(signal?.reason))
  const late = () => abort.abort(timeIsUp)
  if (signal?.aborted) follow()
  signal?.addEventListener("abort", follow, { once: true })
  const timer = timeout === undefined ? undefined : setTimeout(late, Math.min(timeout, longestTimer))
  return () => {
    clearTimeout(timer)
    // Work that a task left running ends with the turn that gave the task.
    if (!parent) signal?.removeEventListener("abort", follow)
  }
}

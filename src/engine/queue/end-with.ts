// How a prompt ends before its time: by its caller, or when its time is up.
import { AsyncLocalStorage } from "node:async_hooks"

/** The reason with which a prompt is aborted whose time is up. */
export const timeIsUp = "its time was up (--timeout)"
const longestTimer = 2 ** 31 - 1

/** Ties the caller's signal and the time limit to a prompt. What it ties must be let go of when the prompt is over. */
export function endWith(
  abort: AbortController,
  { signal, timeout, parent }: { signal?: AbortSignal; timeout?: number; parent?: unknown },
): () => void {
  // A caller may be outside of the instance, where those who are told find nothing.
  const follow = AsyncLocalStorage.bind(() => abort.abort(signal?.reason))
  const late = () => abort.abort(timeIsUp)
  if (signal?.aborted) follow()
  signal?.addEventListener("abort", follow, { once: true })
  const timer = timeout === undefined ? undefined : setTimeout(late, Math.min(timeout, longestTimer))
  return () => {
    clearTimeout(timer)
    // What a task left running ends with the turn that gave it.
    if (!parent) signal?.removeEventListener("abort", follow)
  }
}

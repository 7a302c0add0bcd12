// Errors that the person should see, at the edge of the page, until they are closed.
import { signal } from "@preact/signals"
import { isSignedOut } from "#edge/web/base/api.ts"

export type Problem = { id: number; text: string }

export const problems = signal<readonly Problem[]>([])
const maxShown = 5
let next = 1

export function report(error: unknown): void {
  if (isSignedOut(error)) return
  const text = error instanceof Error ? error.message : String(error)
  if (problems.value.some((one) => one.text === text)) return
  problems.value = [...problems.value, { id: next++, text }].slice(-maxShown)
}

export function dismiss(id: number): void {
  problems.value = problems.value.filter((one) => one.id !== id)
}

/** Runs something that a person asked for; a failure is shown. */
export function attempt(work: () => Promise<unknown>): void {
  work().catch(report)
}

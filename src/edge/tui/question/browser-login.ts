// Waits until the person has signed in with a browser. The address is shown and never opened.
import type { Line } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import type { Ask } from "./ask.ts"

type Outcome = { state: "waiting" | "done" | "failed"; error?: string | undefined }

type Options<T extends Outcome> = {
  /** Where the person signs in: `to groq`. */
  where: string
  /** Without it, nothing is to be opened. */
  url: string | undefined
  ask: Ask
  print(lines: Line[]): void
  /** The outcome, or `waiting` after a while. */
  wait(): Promise<T>
  cancel(): Promise<unknown>
}

/** Resolves to the outcome of the login; throws if it failed or was stopped. */
export async function waitForLogin<T extends Outcome>(options: Options<T>): Promise<T> {
  const { url, ask, print, wait, cancel } = options
  const where = safeLine(options.where)
  const ended = new AbortController()
  if (url) {
    // In one line, so that it can be copied.
    print([`Open this in a browser to sign in ${where}:`, safeLine(url)])
    void ask
      .decide(`Waiting until you have signed in ${where}.`, { s: "stop" }, ended.signal)
      .then(async () => {
        if (!ended.signal.aborted) await cancel()
      })
      .catch(() => {})
  }
  try {
    let outcome = await wait()
    while (outcome.state === "waiting") outcome = await wait()
    if (outcome.state === "failed") throw new Error(outcome.error)
    return outcome
  } finally {
    ended.abort()
  }
}

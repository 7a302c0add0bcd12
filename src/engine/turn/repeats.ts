// Detects a model in a loop: the last calls and their results repeat. Polling a command is no loop: it succeeds, and seconds
// pass in it or between its calls, so it may repeat much more often.
import { hash } from "node:crypto"
import type { Made } from "#engine/run/run.ts"

/** How often the last `period` calls have repeated. `nudge`: the model is told. `stop`: a person must allow it to
 * continue. */
export type Repeat = { times: number; period: number; isPolling: boolean; nudge: boolean; stop: boolean }

const maxPeriod = 8
const limits = { quick: { nudge: 2, stop: 3 }, polling: { nudge: 10, stop: 30 } }
const kept = maxPeriod * limits.polling.stop
/** Milliseconds that a waiting command takes, such as `sleep 2; status`. */
const longCall = 2_000
/** Longer than models think about a call that they have just made. */
const longPause = 10_000

/** Note a call with its result. */
export function addCall(
  calls: Made[],
  call: { said: unknown; duration: number; hasFailed: boolean; now?: number },
): Repeat {
  const { said, duration, hasFailed, now: at = performance.now() } = call
  const key = hash("sha256", JSON.stringify(said), "base64")
  const before = lastWith(calls, key)
  const isLong = duration >= longCall || (before !== undefined && at - before.at >= longPause)
  const isWaited = isLong && !hasFailed
  calls.push({ key, at, isWaited })
  if (calls.length > kept) calls.splice(0, calls.length - kept)
  if (!before) return judged(once, "polling")
  const quick = mostRounds(quickCalls(calls, key))
  if (quick.times >= limits.quick.nudge) return judged(quick, "quick")
  return judged(mostRounds(calls), "polling")
}

type Rounds = Pick<Repeat, "times" | "period">
const once: Rounds = { times: 1, period: 1 }

// Plain loops here and below: these run for every call.
function lastWith(calls: readonly Made[], key: string): Made | undefined {
  for (let at = calls.length - 1; at >= 0; at--) if (calls[at]!.key === key) return calls[at]
  return undefined
}

/** The calls that did not wait, since the last one with this key that did: only that one is polling. */
function quickCalls(calls: readonly Made[], key: string): Made[] {
  const found: Made[] = []
  for (let at = calls.length - 1; at >= 0; at--) {
    const made = calls[at]!
    if (!made.isWaited) found.push(made)
    else if (made.key === key) break
  }
  return found.reverse()
}

function judged(rounds: Rounds, kind: keyof typeof limits): Repeat {
  const { nudge, stop } = limits[kind]
  const isPolling = kind === "polling"
  return { ...rounds, isPolling, nudge: rounds.times >= nudge, stop: rounds.times >= stop }
}

function mostRounds(calls: readonly Made[]): Rounds {
  let most = once
  for (let period = 1; period <= maxPeriod; period++) {
    const times = roundsOf(calls, period)
    if (times > most.times) most = { times, period }
  }
  return most
}

/** How many times the last `period` calls repeat at the end of the list. */
function roundsOf(calls: readonly Made[], period: number): number {
  let same = 0
  for (let at = calls.length - 1; at >= period && calls[at]!.key === calls[at - period]!.key; at--) same++
  return 1 + Math.floor(same / period)
}

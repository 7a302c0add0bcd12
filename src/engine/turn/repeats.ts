// Detects a model in a loop: the last calls and their results repeat. Polling a command is no loop: it succeeds, and seconds
// pass in it or between its calls, so it may repeat much more often.
import { createHash } from "node:crypto"
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
  const key = createHash("sha256").update(JSON.stringify(said)).digest("base64")
  const before = calls.findLast((made) => made.key === key)
  const isLong = duration >= longCall || (before !== undefined && at - before.at >= longPause)
  const isWaited = isLong && !hasFailed
  calls.push({ key, at, isWaited })
  if (calls.length > kept) calls.splice(0, calls.length - kept)
  // Only the call that waited is polling, not the quick ones around it.
  const since = calls.slice(calls.findLastIndex((made) => made.isWaited && made.key === key) + 1)
  const quick = mostRounds(since.filter((made) => !made.isWaited))
  if (quick.times >= limits.quick.nudge) return judged(quick, "quick")
  return judged(mostRounds(calls), "polling")
}

type Rounds = Pick<Repeat, "times" | "period">

function judged(rounds: Rounds, kind: keyof typeof limits): Repeat {
  const { nudge, stop } = limits[kind]
  const isPolling = kind === "polling"
  return { ...rounds, isPolling, nudge: rounds.times >= nudge, stop: rounds.times >= stop }
}

function mostRounds(calls: readonly Made[]): Rounds {
  let most: Rounds = { times: 1, period: 1 }
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

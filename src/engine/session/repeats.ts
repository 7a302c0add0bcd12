// Whether the model goes in circles: the last calls, each with its result, are the same ones over and over.

export type Repeat = { times: number; period: number }

const maxPeriod = 4
/** So often the same: the model is told; once more, and a person must say that it may go on. */
export const nudgeAt = 3
export const stopAt = nudgeAt + 1
const kept = maxPeriod * stopAt

/** Note a call with its result. Gives how often the last one, or the last few, came in a row. */
export function addCall(calls: string[], key: string): Repeat {
  calls.push(key)
  if (calls.length > kept) calls.splice(0, calls.length - kept)
  let most: Repeat = { times: 1, period: 1 }
  for (let period = 1; period <= maxPeriod; period++) {
    const times = roundsOf(calls, period)
    if (times > most.times) most = { times, period }
  }
  return most
}

/** How many times the last `period` calls stand at the end, one round behind the other. */
function roundsOf(calls: string[], period: number): number {
  let same = 0
  for (let at = calls.length - 1; at >= period && calls[at] === calls[at - period]; at--) same++
  return 1 + Math.floor(same / period)
}

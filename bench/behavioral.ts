// Super-steps of a behavioral program per second, beside a plain loop that resumes the same generators in the same run.
import { behavioral, bSync, bThread, type RuleThread } from "#kernel/behavioral/behavioral.ts"
import { median, report } from "./measure.ts"

const rounds = 5
const event = { type: "step" }
const stepping = () => bThread([bSync({ request: event }), bSync({ request: event })], true)
const waiting = () => bThread([bSync({ waitFor: "step" }), bSync({ waitFor: "step" })], true)
const guarding = (i: number) => bThread([bSync({ block: `deploy ${i}`, waitFor: `approve ${i}` })], true)

// One thread requests, and the event resumes all the others, or they only block something else.
measure("10 threads, all resumed", [stepping(), ...many(9, waiting)], 200_000)
measure("1 000 threads, all resumed", [stepping(), ...many(999, waiting)], 5_000)
measure("1 000 threads, one resumed", [stepping(), ...many(999, guarding)], 5_000)

function many(count: number, make: (i: number) => RuleThread): RuleThread[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

function measure(what: string, threads: readonly RuleThread[], goal: number): void {
  const steps = Math.ceil(1_000_000 / threads.length)
  const [ours, floor]: [number[], number[]] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const times = [program(threads, steps), loop(threads, steps)]
    // The first round warms up.
    if (round) [ours, floor].forEach((list, i) => void list.push(times[i]!))
  }
  const perSecond = 1_000 / median(ours)
  report(`behavioral: ${what}`, 1_000 * median(ours), 1_000 * median(floor), "µs")
  const verdict = perSecond >= goal ? "met" : "MISSED"
  console.log(`  ${Math.round(perSecond)} super-steps a second  goal ${goal} ${verdict}`)
  if (perSecond < goal) process.exitCode = 1
}

/** Milliseconds for a super-step. The program stops at its limit of steps, and ends the thread that requests. */
function program(threads: readonly RuleThread[], maxSteps: number): number {
  const { addThread } = behavioral({ maxSteps })
  for (const [i, thread] of threads.slice(1).entries()) addThread(`${i}`, thread)
  const begin = process.cpuUsage()
  addThread("steps", threads[0]!)
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1_000 / maxSteps
}

/** The same generators, resumed one after the other. */
function loop(threads: readonly RuleThread[], steps: number): number {
  const generators = threads.map((thread) => thread())
  const resumed = generators.filter((generator) => {
    const { value } = generator.next()
    return value && (value.request || value.waitFor === event.type)
  })
  const begin = process.cpuUsage()
  for (let step = 0; step < steps; step++) for (const generator of resumed) generator.next(event)
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1_000 / steps
}

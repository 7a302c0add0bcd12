// Simulates a fleet with the figures that `npm run bench database` measures: workers that take turns, one counter row that
// numbers the events of all, connections, heartbeats, what every server reads. Prints the table of docs/scale.md.

/** Measured on two quiet cores with fsync, see docs/scale.md. */
const measured = {
  /** A prompt with one call has two turns; these are the figures of one. */
  turn: { events: 4.5, logBytes: 11_300 },
  /** Milliseconds of a transaction that numbers one event, and of each further event in it. */
  counter: { transaction: 0.7, event: 0.014 },
  eventBytes: 700,
  connections: 12,
  heartbeats: 2,
}
/** Beyond these a PostgreSQL of one machine is in trouble. */
const limits = { connections: 500, busy: 0.8, readMegabytes: 500 }
const turnsPerSecond = 1
const seconds = 30

type Outcome = { busy: number; p50: number; p95: number; isStable: boolean }

console.log(
  "| workers | connections | events/s | counter busy | event delay p50 / p95 | read by all servers | log | heartbeats/s | beyond its limit |",
)
console.log("|---|---|---|---|---|---|---|---|---|")
for (const workers of [1, 10, 40, 80, 200, 1_000, 10_000]) {
  const { busy, p50, p95, isStable } = simulate(workers)
  const events = workers * turnsPerSecond * measured.turn.events
  const connections = workers * measured.connections
  const read = (events * workers * measured.eventBytes) / 1e6
  const broken = [
    ...(busy > limits.busy ? ["counter"] : []),
    ...(connections > limits.connections ? ["connections"] : []),
    ...(read > limits.readMegabytes ? ["fan-out"] : []),
  ]
  const cells = [
    workers.toLocaleString("en"),
    connections.toLocaleString("en"),
    Math.round(events).toLocaleString("en"),
    `${Math.round(busy * 100)} %`,
    isStable ? `${p50.toFixed(0)} / ${p95.toFixed(0)} ms` : "grows without end",
    read < 1_000 ? `${read.toFixed(read < 10 ? 1 : 0)} MB/s` : `${(read / 1_000).toFixed(0)} GB/s`,
    `${((workers * turnsPerSecond * measured.turn.logBytes) / 1e6).toFixed(1)} MB/s`,
    (workers * measured.heartbeats).toLocaleString("en"),
    broken.join(", ") || "nothing",
  ]
  console.log(`| ${cells.join(" | ")} |`)
}

/** Events come at random times. A worker has one transaction at a time; what comes meanwhile shares the next one. The counter
 * row serves one transaction after the other. */
function simulate(workers: number): Outcome {
  const random = randomNumbers(7)
  const rate = turnsPerSecond * measured.turn.events
  const arrivals: { at: number; worker: number }[] = []
  for (let worker = 0; worker < workers; worker++) {
    let at = -Math.log(random()) / rate
    while (at < seconds) {
      arrivals.push({ at: at * 1_000, worker })
      at += -Math.log(random()) / rate
    }
  }
  arrivals.sort((a, b) => a.at - b.at)
  const waiting = new Map<number, number[]>()
  const queue: number[] = []
  const delays: number[] = []
  let [now, worked, next] = [0, 0, 0]
  const end = seconds * 1_000
  const take = () => {
    for (; next < arrivals.length && arrivals[next]!.at <= now; next++) {
      const { at, worker } = arrivals[next]!
      const own = waiting.get(worker)
      if (own) own.push(at)
      else {
        waiting.set(worker, [at])
        queue.push(worker)
      }
    }
  }
  for (let head = 0; now < end; ) {
    take()
    const worker = queue[head]
    if (worker === undefined) {
      if (next >= arrivals.length) break
      now = arrivals[next]!.at
      continue
    }
    head++
    const own = waiting.get(worker)!
    waiting.delete(worker)
    const cost = measured.counter.transaction + measured.counter.event * (own.length - 1)
    now += cost
    worked += cost
    for (const at of own) delays.push(now - at)
  }
  delays.sort((a, b) => a - b)
  const quantile = (q: number) => delays[Math.floor(delays.length * q)] ?? 0
  return {
    busy: Math.min(1, worked / end),
    p50: quantile(0.5),
    p95: quantile(0.95),
    isStable: delays.length > 0.8 * next,
  }
}

/** The same numbers in every run (a linear congruential generator). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return (state + 1) / 2 ** 32
  }
}

// Random programs: they do what the definition says, and a replay of their triggers is exact.
import assert from "node:assert/strict"
import { test } from "node:test"
import {
  behavioral,
  type Event,
  type Idiom,
  type Listener,
  type Snapshot,
  type Thread,
} from "#kernel/behavioral/behavioral.ts"
import { createRandom } from "../../fixture/random.ts"
import { repeat } from "../../fixture/soak.ts"
import { letters, randomThreads } from "./random-threads.ts"

type Step = { add: [string, Thread] } | { trigger: Event }
const maxSteps = 40

test("random programs select, block and resume as the definition says", () => {
  for (let seed = 1; seed <= repeat(2_000, 100_000); seed++) {
    const steps = randomSteps(seed)
    const { selected, outcomes } = play(steps)
    assert.deepEqual({ selected, outcomes }, define(steps), `seed ${seed}`)
  }
})

test("a replay of the triggers, read from JSON, gives the same snapshots", () => {
  for (let seed = 1; seed <= repeat(500, 20_000); seed++) {
    const threads = randomThreads(seed)
    const random = createRandom(seed)
    const log = Array.from({ length: 20 }, () => ({
      type: letters[random(letters.length)]!,
      detail: random(9),
    }))
    const adds = threads.map((add): Step => ({ add }))
    const replayed: Event[] = JSON.parse(JSON.stringify(log))
    assert.deepEqual(
      play([...adds, ...replayed.map((trigger) => ({ trigger }))]),
      play([...adds, ...log.map((trigger) => ({ trigger }))]),
    )
  }
})

/** Threads, and triggers between them. */
function randomSteps(seed: number): Step[] {
  const random = createRandom(-seed)
  return randomThreads(seed, { most: 8 }).flatMap((add): Step[] => [
    { add },
    ...Array.from({ length: random(6) }, () => ({ trigger: { type: letters[random(letters.length)]! } })),
  ])
}

function play(steps: readonly Step[]) {
  const program = behavioral({ maxSteps })
  const snapshots: Snapshot[] = []
  const outcomes: (readonly string[])[] = []
  program.useSnapshot((snapshot) => void snapshots.push(snapshot))
  for (const step of steps)
    if ("add" in step) program.addThread(...step.add)
    else outcomes.push(program.trigger(step.trigger).blockedBy)
  const selected = snapshots.flatMap((one) =>
    one.kind === "selection" ? one.candidates.filter((candidate) => candidate.selected) : [],
  )
  return { selected: selected.map(({ thread, type }) => ({ thread, type })), outcomes, snapshots }
}

/** The definition of a super-step, written as plainly as possible. */
function define(steps: readonly Step[]) {
  type Place = { name: string; steps: Generator<Idiom, void, Event>; idiom: Idiom }
  let places: Place[] = []
  const selected: { thread: string | undefined; type: string }[] = []
  const outcomes: string[][] = []
  const hears = (listeners: Listener | readonly Listener[] | undefined, event: Event) =>
    [listeners ?? []]
      .flat()
      .some((one: Listener) => (typeof one === "string" ? one === event.type : one(event)))
  const blockers = (event: Event) =>
    places.filter(({ idiom }) => hears(idiom.block, event)).map(({ name }) => name)

  for (const step of steps) {
    let offer = "trigger" in step ? step.trigger : undefined
    if ("add" in step) {
      const generator = step.add[1]()
      const first = generator.next()
      if (!first.done) places.push({ name: step.add[0], steps: generator, idiom: first.value })
    }
    if (offer) outcomes.push(blockers(offer))
    for (let count = 1; ; count++) {
      const requests: [Place | undefined, Event][] = places.flatMap((place) =>
        place.idiom.request ? [[place, place.idiom.request as Event]] : [],
      )
      if (offer) requests.unshift([undefined, offer])
      offer = undefined
      const chosen = requests.find(([, event]) => !blockers(event).length)
      if (!chosen) break
      const [from, event] = chosen
      selected.push({ thread: from?.name, type: event.type })
      places = places.filter((place) => {
        if (hears(place.idiom.interrupt, event)) return false
        if (place !== from && !hears(place.idiom.waitFor, event)) return true
        const next = place.steps.next(event)
        if (!next.done) place.idiom = next.value
        return !next.done
      })
      if (count <= maxSteps) continue
      places = places.filter((place) => place !== from)
      count = 0
    }
  }
  return { selected, outcomes }
}

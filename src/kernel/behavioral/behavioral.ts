// Behavioral programming: a program of threads that each say, at every step, which event they request, wait for or block.
// A super-step collects the requests, drops what any thread blocks, chooses one by priority, and resumes every thread that
// requested it, waits for it or is interrupted by it. This folder imports nothing.
import { fits } from "./thread.ts"
import type {
  Candidate,
  Event,
  Handlers,
  Idiom,
  Listener,
  Program,
  Snapshot,
  Thread,
  Triggered,
} from "./types.ts"

export { bSync, bThread } from "./thread.ts"
export type * from "./types.ts"

/** A thread at its last yield. A smaller priority goes first. */
type Place = { name: string; priority: number; steps: Generator<Idiom, void, Event>; idiom: Idiom }
type Request = { place: Place | undefined; event: Event; blockedBy: readonly string[] }
type Offer = { event: Event; outcome: Triggered }

const none: readonly string[] = Object.freeze([])

/**
 * Make a program. A trigger comes before all threads, and threads in the order in which they were added. `maxSteps`: so many
 * super-steps may follow one trigger or one new thread.
 */
export function behavioral({ maxSteps = 10_000 }: { maxSteps?: number } = {}): Program {
  const names = new Set<string>()
  let places: Place[] = []
  const added: { name: string; thread: Thread; priority: number }[] = []
  const offers: Offer[] = []
  const handlers = new Set<Handlers>()
  const watchers = new Set<(snapshot: Snapshot) => void>()
  let isRunning = false

  return Object.freeze({
    /** Threads are never replaced or removed, so nothing can get rid of a guard. */
    addThread(name: string, thread: Thread) {
      if (names.has(name)) throw new Error(`a thread named ${name} exists already`)
      names.add(name)
      added.push({ name, thread, priority: names.size })
      run()
    },
    /** Offer an event from outside, once: if a thread blocks it, it is dropped. */
    trigger(event: Event) {
      const offer: Offer = { event, outcome: { selected: false, blockedBy: none, waits: true } }
      offers.push(offer)
      run()
      return offer.outcome
    },
    useFeedback: (functions: Handlers) => register(handlers, functions),
    useSnapshot: (watch: (snapshot: Snapshot) => void) => register(watchers, watch),
  })

  /** Super-steps until all requests are blocked. */
  function run(): void {
    if (isRunning) return
    isRunning = true
    try {
      for (let steps = 1; ; steps++) {
        startThreads()
        const chosen = superStep(offers.shift())
        if (!chosen && !offers.length && !added.length) return
        if (steps <= maxSteps) continue
        endEndless(chosen?.place, steps)
        // The other threads get as many steps again.
        steps = 0
      }
    } finally {
      isRunning = false
    }
  }

  /** New threads run to their first yield. */
  function startThreads(): void {
    for (let next = added.shift(); next; next = added.shift()) {
      const { name, thread, priority } = next
      try {
        const steps = thread()
        const first = steps.next()
        if (!first.done) places.push({ name, priority, steps, idiom: checked(first.value) })
      } catch (error) {
        report(name, error)
      }
    }
  }

  /** Returns the request that was chosen. */
  function superStep(offer: Offer | undefined): Request | undefined {
    const requests = collect(offer)
    if (!requests.length) return undefined
    let chosen: Request | undefined
    for (const request of requests) {
      request.blockedBy = blockersOf(request.event)
      if (!request.blockedBy.length) chosen ??= request
      // Nobody looks at what became of the others.
      if (chosen && !watchers.size) break
    }
    if (offer) {
      const { blockedBy } = requests[0]!
      offer.outcome = { selected: !blockedBy.length, blockedBy, waits: false }
    }
    if (watchers.size) {
      publish({ kind: "selection", candidates: requests.map((request) => describe(request, chosen)) })
      const threads = requests.flatMap(({ place }) => place?.name ?? [])
      if (!chosen && threads.length) publish({ kind: "deadlock", threads })
    }
    if (!chosen) return undefined
    resume(chosen)
    for (const functions of handlers) call(functions, chosen.event)
    return chosen
  }

  function collect(offer: Offer | undefined): Request[] {
    const requests: Request[] = offer ? [{ place: undefined, event: offer.event, blockedBy: none }] : []
    let isOver = false
    for (const place of places) {
      const { request } = place.idiom
      if (!request) continue
      try {
        const event = typeof request === "function" ? request() : request
        if (typeof event?.type !== "string") throw new TypeError("a request must be an event with a type")
        requests.push({ place, event, blockedBy: none })
      } catch (error) {
        report(place.name, error)
        place.steps = over
        isOver = true
      }
    }
    if (isOver) places = places.filter(({ steps }) => steps !== over)
    return requests
  }

  /** A listener that throws blocks: a guard with a mistake must not let everything through. */
  function blockersOf(event: Event): readonly string[] {
    let by: string[] | undefined
    for (const place of places) {
      const { block } = place.idiom
      if (block === undefined || !hears(place, block, event, true)) continue
      by ??= []
      by.push(place.name)
    }
    return by ?? none
  }

  function resume({ place: from, event }: Request): void {
    let hasEnded = false
    for (const place of places) {
      const { idiom, name } = place
      if (idiom.interrupt !== undefined && hears(place, idiom.interrupt, event, false)) end(place)
      else if (place === from || (idiom.waitFor !== undefined && hears(place, idiom.waitFor, event, false))) {
        try {
          const next = place.steps.next(event)
          if (next.done) place.steps = over
          else place.idiom = checked(next.value)
        } catch (error) {
          report(name, error)
          place.steps = over
        }
      }
      hasEnded ||= place.steps === over
    }
    if (hasEnded) places = places.filter(({ steps }) => steps !== over)
  }

  /** Handlers and watchers that trigger, or add threads, for ever are endless too. */
  function endEndless(place: Place | undefined, steps: number): void {
    publish({ kind: "limit", thread: place?.name, steps })
    offers.length = 0
    if (!place || place.steps === over) added.length = 0
    else end(place)
    places = places.filter((one) => one !== place)
  }

  /** Its `finally` runs. */
  function end(place: Place): void {
    try {
      place.steps.return()
    } catch (error) {
      report(place.name, error)
    }
    place.steps = over
  }

  function hears(
    place: Place,
    listeners: Listener | readonly Listener[],
    event: Event,
    otherwise: boolean,
  ): boolean {
    if (typeof listeners === "string") return listeners === event.type
    try {
      return fits(listeners, event)
    } catch (error) {
      report(place.name, error)
      return otherwise
    }
  }

  function call(functions: Handlers, { type, detail }: Event): void {
    if (!Object.hasOwn(functions, type)) return
    try {
      functions[type]!(detail)
    } catch (error) {
      report(undefined, error)
    }
  }

  function report(thread: string | undefined, error: unknown): void {
    publish({ kind: "error", thread, message: error instanceof Error ? error.message : String(error) })
  }

  /** A watcher that throws must not stop the program. */
  function publish(snapshot: Snapshot): void {
    for (const watch of watchers)
      try {
        watch(snapshot)
      } catch {
        watchers.delete(watch)
      }
  }
}

/** Of a thread that has ended. */
const over: Generator<Idiom, void, Event> = (function* () {})()

function checked(idiom: Idiom): Idiom {
  if (typeof idiom === "object" && idiom !== null) return idiom
  throw new TypeError(`a thread must yield an object, not ${idiom}`)
}

function register<T>(set: Set<T>, one: T): () => void {
  set.add(one)
  return () => void set.delete(one)
}

function describe({ place, event, blockedBy }: Request, chosen: Request | undefined): Candidate {
  return {
    thread: place?.name,
    type: event.type,
    ...(event.detail === undefined ? {} : { detail: event.detail }),
    priority: place?.priority ?? 0,
    selected: chosen?.event === event && chosen.place === place,
    blockedBy,
  }
}

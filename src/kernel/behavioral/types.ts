/** Something that may happen: a type, and what it is about. */
export type Event = { type: string; detail?: unknown }

/** The type of an event, or a test of an event. */
export type Listener = string | ((event: Event) => boolean)

/** What a thread says at a yield. A function as request makes the event when the requests are collected. */
export type Idiom = {
  request?: Event | (() => Event)
  waitFor?: Listener | readonly Listener[]
  block?: Listener | readonly Listener[]
  interrupt?: Listener | readonly Listener[]
}

/** Starts a thread: each yield says what it wants, and returns the event that resumed it. */
export type Thread = () => Generator<Idiom, void, Event>

/** A rule yields once. `next` returns the position of the rule to go on with, if that is not the next one. */
export type Rule = Readonly<{ idiom: Idiom; next?: (event: Event) => number | undefined }>

/** A thread whose state is its position in its list of rules, so that it can be explored. */
export type RuleThread = Thread & { rules: readonly Rule[]; repeat: Repeat }
export type Repeat = boolean | (() => boolean)

/** A request in a super-step, and what became of it. `thread` is undefined for a trigger. */
export type Candidate = {
  thread: string | undefined
  type: string
  detail?: unknown
  priority: number
  selected: boolean
  blockedBy: readonly string[]
}

export type Snapshot =
  | { kind: "selection"; candidates: readonly Candidate[] }
  /** All requests are blocked, and only a trigger can change that. */
  | { kind: "deadlock"; threads: readonly string[] }
  /** A thread or a handler threw. The thread has ended, unless a listener of it threw. */
  | { kind: "error"; thread: string | undefined; message: string }
  /** The program did not come to rest within its limit of steps. The thread that requested the last event has ended. */
  | { kind: "limit"; thread: string | undefined; steps: number }

/** What became of a trigger. `waits`: it was made in the middle of a step, and is offered after that. */
export type Triggered = { selected: boolean; blockedBy: readonly string[]; waits: boolean }

/** Functions by event type. */
export type Handlers = Readonly<Record<string, (detail: unknown) => void>>

export type Program = {
  addThread(name: string, thread: Thread): void
  trigger(event: Event): Triggered
  useFeedback(handlers: Handlers): () => void
  useSnapshot(watch: (snapshot: Snapshot) => void): () => void
}

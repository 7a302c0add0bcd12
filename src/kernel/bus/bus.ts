// Events of one instance: validated by Zod, delivered to its subscribers in the order of subscription, then to the
// GlobalBus. Known secrets are redacted first.
import { z } from "zod"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { about } from "#util/about.ts"
import { errorText, NamedError } from "#util/error.ts"
import * as GlobalBus from "./global-bus.ts"

export type Definition<P = unknown> = {
  readonly type: string
  readonly schema: z.ZodType<P>
  readonly live: boolean
  /** When it is published, for docs/events.md. */
  readonly when: string | undefined
}
export type Event<P = unknown> = GlobalBus.Event<P>

export class InvalidEvent extends NamedError {
  constructor(type: string, reason: string) {
    super("Bus.InvalidEvent", `Event "${type}" was refused: ${reason}`, { type })
  }
}

const definitions = new Map<string, Definition>()
const subscribers = Instance.state(() => new Set<{ type: string; deliver: (event: Event) => unknown }>())

export const Disposed = define(
  "instance.disposed",
  z.object({ directory: about("Folder that the instance was for.", z.string()) }),
  { when: "An instance ends. It is the last event of its folder." },
)
Instance.onDisposed(() => publish(Disposed, { directory: Instance.directory }))

/** Declare an event. A live event is only for current listeners: it has no id and is never replayed. */
export function define<P>(
  type: string,
  schema: z.ZodType<P>,
  { live = false, when }: { live?: boolean; when?: string } = {},
): Definition<P> {
  if (!/^[a-z][\w.-]*$/i.test(type)) throw new InvalidEvent(type, "a type is a word, such as session.created")
  if (type === "gap")
    throw new InvalidEvent(type, "the name is reserved: the event stream sends it when events are missing")
  const definition: Definition<P> = Object.freeze({ type, schema, live, when })
  definitions.set(type, definition as Definition)
  return definition
}

/** Every event type that was declared, for the documents that list them. */
export function list(): Definition[] {
  return [...definitions.values()]
}

/** Validate, number and deliver an event. Throws `InvalidEvent` if the payload does not match its schema. `onUnheard`
 * is called if nobody subscribed to this event type (see `isHeard`), or every such subscriber failed. */
export function publish<P>(definition: Definition<P>, payload: P, onUnheard?: () => void): Event<P> {
  const checked = definition.schema.safeParse(payload)
  if (!checked.success)
    throw new InvalidEvent(definition.type, z.prettifyError(checked.error).replaceAll("\n", " "))
  const event = GlobalBus.stamp({
    type: definition.type,
    directory: Instance.place,
    payload: withoutSecrets(definition.type, checked.data),
    live: definition.live,
  })
  const all = subscribers()
  GlobalBus.inTurn(() => {
    const heard: (boolean | Promise<boolean>)[] = []
    for (const { type, deliver } of [...all]) {
      if (type !== "*" && type !== definition.type) continue
      const isHeard = GlobalBus.deliver(deliver, event)
      if (type !== "*") heard.push(isHeard)
    }
    GlobalBus.broadcast(event)
    if (onUnheard && !heard.includes(true))
      void Promise.all(heard).then((all) => all.includes(true) || onUnheard())
  })
  return event as Event<P>
}

export function subscribe<P>(
  definition: Definition<P>,
  handler: (payload: P, event: Event<P>) => unknown,
): () => void
export function subscribe(all: "*", handler: (event: Event) => unknown): () => void
export function subscribe(what: Definition | "*", handler: (...args: never[]) => unknown): () => void {
  const call = handler as (...args: unknown[]) => unknown
  const subscriber =
    what === "*"
      ? { type: "*", deliver: call }
      : { type: what.type, deliver: (event: Event) => call(event.payload, event) }
  const set = subscribers()
  set.add(subscriber)
  return () => void set.delete(subscriber)
}

/** Whether somebody subscribed to this event type. Subscribers of "*" do not count: they may only write a log. */
export function isHeard({ type }: Pick<Definition, "type">): boolean {
  return [...subscribers()].some((subscriber) => subscriber.type === type)
}

function withoutSecrets<P>(type: string, payload: P): P {
  try {
    const text = JSON.stringify(payload)
    return text !== undefined && Secret.reveals(text) ? JSON.parse(Secret.redactJson(text)) : payload
  } catch (error) {
    throw new InvalidEvent(type, errorText(error))
  }
}

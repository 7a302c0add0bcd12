// The structural vocabulary: what a template is made of, in the five terms of structural information architecture. The
// analysis describes every template in these terms, and the constraints in `structure/` hold over them.

/** The values of each term. */
export const vocabulary = {
  object: {
    /** What a person perceives as one thing. */
    kind: ["text", "heading", "image", "media", "list", "table", "value"],
    /** How it relates to the objects around it: alone, beside others, inside another, in a list, one step of several. */
    grouping: ["single", "relational", "nested", "list", "steps"],
  },
  channel: {
    /** How information flows: to another page, to a server, to a handler, from elsewhere into the page, to another element. */
    kind: ["link", "form", "event", "embed", "reference"],
  },
  lever: {
    /** What changes behaviour. */
    kind: ["button", "choice", "toggle", "text", "range", "disclosure"],
    /** An incentive invites an action; a constraint limits what can be done. */
    effect: ["incentive", "constraint"],
  },
  loop: {
    /** What answers an action. `outside`: whoever uses the template passes the handler, and answers. */
    response: ["navigation", "state", "message", "outside"],
  },
  block: {
    /** What the others are composed to. */
    kind: ["landmark", "section", "component"],
    /** Blocks that recur: things under a heading, things in order of time, answers to answers, a profile with a stream. */
    pattern: ["pool", "stream", "thread", "wall"],
  },
} as const

type Vocabulary = typeof vocabulary
type Value<Term extends keyof Vocabulary, Field extends keyof Vocabulary[Term]> = Extract<
  Vocabulary[Term][Field],
  readonly unknown[]
>[number]

/** `at`: the offset in the file. `name` is for people: text, label or element. */
type Place = { at: number; name: string }

export type StructuralObject = Place & {
  kind: Value<"object", "kind">
  grouping: Value<"object", "grouping">
  isEmpty: boolean
}
/** `target` is undefined if the channel leads nowhere. */
export type Channel = Place & { kind: Value<"channel", "kind">; target: string | undefined }
export type Lever = Place & { kind: Value<"lever", "kind">; effect: Value<"lever", "effect"> }
/** An action, and the response that a person can see. A loop without handler or without response is open. */
export type Loop = Place & {
  action: string
  hasHandler: boolean
  response: Value<"loop", "response"> | undefined
}
export type Block = Place & {
  kind: Value<"block", "kind">
  role: string
  isNamed: boolean
  pattern?: Value<"block", "pattern">
}

export const terms = ["objects", "channels", "levers", "loops", "blocks"] as const

export type Structure = {
  objects: StructuralObject[]
  channels: Channel[]
  levers: Lever[]
  loops: Loop[]
  blocks: Block[]
}

export function emptyStructure(): Structure {
  return { objects: [], channels: [], levers: [], loops: [], blocks: [] }
}

/** Adds one structure to another. */
export function addStructure(to: Structure, from: Structure): void {
  for (const term of terms) for (const item of from[term]) to[term].push(item as never)
}

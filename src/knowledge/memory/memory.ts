// What a session has in mind while it works: `shortTerm`, its messages and what of them is sent, and `working`, where
// its task stands. Both come from its messages on the disk, and are let go when nobody needs them.
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import { createShortTerm, type ShortTerm } from "./short-term.ts"
import { charactersOf } from "./tokens-of.ts"
import { createWorking, type Working } from "./working.ts"

export type { ShortTerm } from "./short-term.ts"
export type { State } from "./working.ts"

type Mind = { shortTerm: ShortTerm; working: Working; isBusy: boolean; characters: number }

/** Of sessions at rest: what they may hold together, and how many of them. */
const most = { characters: 2_000_000, sessions: 50 }
const minds = Instance.state(() => new Map<string, Mind>())

/** The messages of a session, and what of them the model is sent. */
export function shortTerm(sessionId: string): ShortTerm {
  return mindOf(sessionId).shortTerm
}

/** The task of a session: what was asked, files, commands, results. */
export function working(sessionId: string): Working {
  return mindOf(sessionId).working
}

/** A prompt begins: its messages are to be pushed to the list that this gives. */
export function begin(sessionId: string): ReturnType<ShortTerm["begin"]> {
  const mind = mindOf(sessionId)
  mind.isBusy = true
  return mind.shortTerm.begin()
}

/** The session works no more. What was used last stays for a while, as far as it is small. */
export function rest(sessionId: string): void {
  const all = minds()
  const mind = all.get(sessionId)
  if (!mind) return
  mind.isBusy = false
  mind.characters = mind.shortTerm.messages().reduce((sum, message) => sum + sizeOf(message), 0)
  const idle = [...all].filter(([, one]) => !one.isBusy).reverse()
  let held = 0
  for (const [i, [id, { characters }]] of idle.entries()) {
    held += characters
    if (held > most.characters || i >= most.sessions) all.delete(id)
  }
}

export function forget(sessionId: string): void {
  minds().delete(sessionId)
}

/** About what a message holds, in characters. */
function sizeOf(message: Message.Info): number {
  const size = message.type === "mcp_resource" ? message.data.content.length : charactersOf(message)
  return 500 + size + (message.type === "image" ? message.data.source.value.length : 0)
}

function mindOf(sessionId: string): Mind {
  const all = minds()
  const known = all.get(sessionId)
  const mind = known ?? createMind()
  // Those that were used last are at the end.
  all.delete(sessionId)
  all.set(sessionId, mind)
  return mind
}

function createMind(): Mind {
  const shortTerm = createShortTerm()
  return { shortTerm, working: createWorking(shortTerm.messages), isBusy: false, characters: 0 }
}

// The memory of a running session: `shortTerm`, its messages and the part that is sent, and `working`, the state of
// its task. Both are built from messages on disk, and freed when no longer needed.
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import { createShortTerm, type ShortTerm } from "./short-term.ts"
import { charactersOf } from "./tokens.ts"
import { createWorking, type Working } from "./working.ts"

export type { ShortTerm } from "./short-term.ts"
export type { State } from "./working.ts"

type Mind = {
  shortTerm: ShortTerm
  working: Working
  isBusy: boolean
  characters: number
  sending?: { model: string; converter: Message.Converter }
}

/** Of sessions at rest: what they may hold together, and how many of them. */
const most = { characters: 2_000_000, sessions: 50 }
const minds = Instance.state(() => new Map<string, Mind>())

/** The messages of a session, and what of them the model is sent. */
export function shortTerm(sessionId: string): ShortTerm {
  return mindOf(sessionId).shortTerm
}

/** The task of a session: request, files, commands, results. */
export function working(sessionId: string): Working {
  return mindOf(sessionId).working
}

/** Converts the messages of a session for a model, reusing the conversion of the last prompt. `imageBytes` finds the
 * images of this session. */
export function converterFor(sessionId: string, { imageBytes, ...facts }: Message.Facts): Message.Converter {
  const mind = mindOf(sessionId)
  const model = JSON.stringify(facts)
  if (mind.sending?.model !== model)
    mind.sending = {
      model,
      converter: Message.createConverter({ ...facts, ...(imageBytes ? { imageBytes } : {}) }),
    }
  return mind.sending.converter
}

/** A prompt begins: its messages are to be pushed to the list that this gives. */
export function begin(sessionId: string): ReturnType<ShortTerm["begin"]> {
  const mind = mindOf(sessionId)
  mind.isBusy = true
  return mind.shortTerm.begin()
}

/** The session is idle. Recently used memory stays for a while if it is small. */
export function rest(sessionId: string): void {
  const all = minds()
  const mind = all.get(sessionId)
  if (!mind) return
  mind.isBusy = false
  // It would hold the bytes of the images.
  if (mind.shortTerm.messages().some(({ type }) => type === "image")) delete mind.sending
  mind.characters = mind.shortTerm.messages().reduce((sum, message) => sum + sizeOf(message), 0)
  const idle = [...all].filter(([, one]) => !one.isBusy).reverse()
  const held = { characters: 0, sessions: 0 }
  for (const [id, { characters }] of idle) {
    if (held.characters + characters > most.characters || held.sessions >= most.sessions) {
      all.delete(id)
      continue
    }
    held.characters += characters
    held.sessions++
  }
}

export function forget(sessionId: string): void {
  minds().delete(sessionId)
}

/** The approximate size of a message in characters. */
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

// The memory of a running session: `shortTerm` has its messages and the part of them that is sent, `working` the state of
// its task. Both are built from the messages on disk, and freed when they are no longer needed.
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import { createShortTerm, type ShortTerm } from "./short-term.ts"
import { charactersOf } from "./tokens.ts"
import { createWorking, type Working } from "./working.ts"

export type { ShortTerm } from "./short-term.ts"
export type { State } from "./working.ts"

type SessionMemory = {
  shortTerm: ShortTerm
  working: Working
  isBusy: boolean
  characters: number
  sending?: { model: string; converter: Message.Converter }
}

/** Limits for idle sessions that stay in memory: their characters together, and their number. */
const most = { characters: 2_000_000, sessions: 50 }
const memories = Instance.state(() => new Map<string, SessionMemory>())

/** The messages of a session, and the part of them that the model is sent. */
export function shortTerm(sessionId: string): ShortTerm {
  return memoryOf(sessionId).shortTerm
}

/** The task of a session: request, files, commands, results. */
export function working(sessionId: string): Working {
  return memoryOf(sessionId).working
}

/** Converts the messages of a session for a model, reusing the conversion of the last prompt. `imageBytes` finds the
 * images of this session. */
export function converterFor(sessionId: string, { imageBytes, ...facts }: Message.Facts): Message.Converter {
  const memory = memoryOf(sessionId)
  const model = JSON.stringify(facts)
  if (memory.sending?.model !== model)
    memory.sending = {
      model,
      converter: Message.createConverter({ ...facts, ...(imageBytes ? { imageBytes } : {}) }),
    }
  return memory.sending.converter
}

/** Call when a prompt begins. Push its messages to the list that this returns. */
export function begin(sessionId: string): ReturnType<ShortTerm["begin"]> {
  const memory = memoryOf(sessionId)
  memory.isBusy = true
  return memory.shortTerm.begin()
}

/** Call when a session is idle. The memory of recently used sessions is kept within the limits. */
export function rest(sessionId: string): void {
  const all = memories()
  const memory = all.get(sessionId)
  if (!memory) return
  memory.isBusy = false
  // The converter keeps the bytes of images in memory.
  if (memory.shortTerm.messages().some(({ type }) => type === "image")) delete memory.sending
  memory.characters = memory.shortTerm.messages().reduce((sum, message) => sum + sizeOf(message), 0)
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
  memories().delete(sessionId)
}

/** The approximate size of a message in characters. */
function sizeOf(message: Message.Info): number {
  const size = message.type === "mcp_resource" ? message.data.content.length : charactersOf(message)
  return 500 + size + (message.type === "image" ? message.data.source.value.length : 0)
}

function memoryOf(sessionId: string): SessionMemory {
  const all = memories()
  const known = all.get(sessionId)
  const memory = known ?? createMemory()
  // The most recently used sessions are at the end.
  all.delete(sessionId)
  all.set(sessionId, memory)
  return memory
}

function createMemory(): SessionMemory {
  const shortTerm = createShortTerm()
  return { shortTerm, working: createWorking(shortTerm.messages), isBusy: false, characters: 0 }
}

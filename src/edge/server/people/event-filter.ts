// Which events a person may see: those of sessions that they may see, and a few about the folder. Sessions that exist are
// looked up when the stream begins, the others when an event names them; an answer holds for a second, so that the end of
// a share takes effect.
import * as Session from "#engine/session/session.ts"
import * as Person from "#kernel/person.ts"
import { accessOf } from "#kernel/session-access.ts"

type Frame = { type?: string; payload?: { sessionId?: unknown } }
type Known = { isVisible: boolean; at: number }

/** Events that name no session, and that every person may see. */
const ofEverybody = new Set(["gap", "config.changed", "mcp.changed"])
const ofRecords = new Set(["session.created", "session.updated"])
const end = Buffer.from("\n\n")
const dataLine = Buffer.from("\ndata: ")
const freshFor = 1_000
const maxKnown = 20_000

/** Returns a function that keeps the frames that the person may see, in their order. */
export function createEventFilter(person: Person.Person): (frames: Buffer) => Promise<Buffer> {
  const known = new Map<string, Known>()
  const ready = Person.run(person, () => Session.list({ everywhere: true, tasks: true })).then((sessions) => {
    for (const { id } of sessions) remember(id, true)
  })
  // A failure is reported by the first `keep`.
  ready.catch(() => {})

  async function isVisible(sessionId: string, type: string): Promise<boolean> {
    const before = known.get(sessionId)
    // The record may just have been shared.
    const isFresh = before && !ofRecords.has(type) && performance.now() - before.at < freshFor
    if (isFresh) return before.isVisible
    const session = await Session.find(sessionId)
    // The person may know that a session is gone if they could see it.
    if (!session) return before?.isVisible ?? false
    return remember(sessionId, (await accessOf(session, person, Session.find)) !== undefined)
  }

  function remember(sessionId: string, isVisible: boolean): boolean {
    known.delete(sessionId)
    known.set(sessionId, { isVisible, at: performance.now() })
    const [oldest] = known.keys()
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest)
    return isVisible
  }

  async function keep(frames: Buffer): Promise<Buffer> {
    await ready
    const kept: Buffer[] = []
    for (let start = 0; start < frames.length; ) {
      const stop = frames.indexOf(end, start)
      const next = stop < 0 ? frames.length : stop + end.length
      const frame = frames.subarray(start, next)
      const { type = "", payload } = parse(frame)
      const sessionId = payload?.sessionId
      const isShown = typeof sessionId === "string" ? await isVisible(sessionId, type) : ofEverybody.has(type)
      if (isShown) kept.push(frame)
      start = next
    }
    return Buffer.concat(kept)
  }

  return keep
}

function parse(frame: Buffer): Frame {
  const at = frame.indexOf(dataLine)
  return at < 0 ? {} : (JSON.parse(frame.toString("utf8", at + dataLine.length)) as Frame)
}

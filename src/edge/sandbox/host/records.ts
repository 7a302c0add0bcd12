// The records that a guest may read and write: those that a turn touches, of its own sessions only. Grants, trust and the
// project are readable; configuration, other sessions and everything else are not there.
import { isDeepStrictEqual } from "node:util"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { Get, GetMany, List, Put, Swap } from "#edge/sandbox/wire/doors.ts"
import { maxFrame } from "#edge/sandbox/wire/frames.ts"
import { isTooComplex } from "#edge/sandbox/wire/too-complex.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { NamedError } from "#util/error.ts"
import { hashText } from "#util/hash-text.ts"
import { fewAtOnce } from "./few-at-once.ts"
import type { PromptSessions } from "./prompt-sessions.ts"
import { Refused } from "./refused.ts"
import { textAt } from "./told-records.ts"

type Key = Storage.Key
/** Bytes of records that one prompt may write. */
const mostWritten = 512 << 20
/** Changes at the same time: each holds the record as it was. They share the wait for the disk. */
const mostChanges = 4

/** The kinds of records that a turn writes, and the parts of their keys. */
const kinds = new Map(Object.entries({ session: 3, message: 3, turn: 3, relation: 2, "last-session": 2 }))
/** The controls that a turn writes. */
const controls = new Set(["compaction", "mode_blocked"])

class Conflict extends NamedError {
  readonly text: string | null
  constructor(text: string | null) {
    super("Sandbox.Conflict", "The record changed meanwhile.")
    this.text = text
  }
}

/** `stored`: the prompt, if it is stored; it has begun when its first message is written. `isOwn` knows the snapshots that
 * were taken. */
export function createRecordDoors(
  sessions: PromptSessions,
  options: {
    stored: StoredPrompt.Handle | undefined
    isOwn(snapshot: unknown): boolean
    /** Resolves when the guest has read earlier answers. */
    drained(): Promise<void>
  },
) {
  const { stored: prompt, isOwn, drained } = options
  let written = 0

  async function get(args: unknown): Promise<string | null> {
    const { key } = Get.parse(args)
    await refuseRead(key)
    return textAt(key)
  }

  async function many(args: unknown): Promise<(string | null)[]> {
    const { prefix, names } = GetMany.parse(args)
    const keys = names.map((name) => [...prefix, name])
    for (const key of keys) await refuseRead(key)
    const texts: (string | null)[] = []
    let size = 0
    for (const key of keys) {
      const text = await textAt(key).catch(() => null)
      size += text?.length ?? 0
      if (size > maxFrame) throw new Refused("so many records at once")
      texts.push(text)
    }
    return texts
  }

  async function list(args: unknown): Promise<string[]> {
    const { prefix } = List.parse(args)
    const [kind, owner, ...more] = prefix
    if (kind === "prompt" && prefix.length === 1) return ownPrompts()
    const isOwn = ((kind === "message" || kind === "turn") && sessions.has(owner)) || isOwnJob(prefix)
    const isGrants = kind === "grant" && owner === Instance.project.id
    if (more.length || !(isOwn || isGrants)) throw new Refused("this list of records")
    return Storage.list(prefix)
  }

  async function put(args: unknown): Promise<void> {
    const { key, text } = Put.parse(args)
    count(text)
    const value = parse(text)
    await refuseWrite(key)
    const before = await textAt(key)
    const stored = checked(key, value, before === null ? undefined : JSON.parse(before))
    await Storage.write(key, stored)
    publish(key, stored, before === null)
  }

  /** Writes a record if it is still the one that the change began with. */
  async function swap(args: unknown): Promise<{ isStored: boolean; text: string | null }> {
    const { key, before, after } = Swap.parse(args)
    count(after)
    const value = parse(after)
    await refuseWrite(key)
    const removes = recordBegunBy(key, value)
    let isNew = false
    try {
      const stored = await Storage.update<Record<string, unknown>>(
        key,
        (draft) => {
          const text = isEmpty(draft) ? null : JSON.stringify(draft)
          isNew = text === null
          // A conflict shows the record, so whose it is comes first.
          if (text !== null && key[0] === "session") sessions.get(key[2])
          if ((text === null ? null : hashText(text)) !== before) throw new Conflict(text)
          const next = checked(key, value, text === null ? undefined : draft)
          for (const name of Object.keys(draft)) delete draft[name]
          Object.assign(draft, next)
        },
        { initial: {}, removes },
      )
      if (removes) prompt!.hasBegun = true
      publish(key, stored, isNew)
      const text = JSON.stringify(stored)
      return { isStored: true, text: text === after ? null : text }
    } catch (error) {
      if (error instanceof Conflict) return { isStored: false, text: error.text }
      throw error
    }
  }

  /** The record of a job, if this is the first message of it. */
  function recordBegunBy([kind]: Key, value: unknown): Key | undefined {
    const promptId = kind === "message" && (value as { promptId?: unknown } | null)?.promptId
    if (!prompt?.isJob || prompt.hasBegun || promptId !== prompt.id) return undefined
    return ["job", prompt.sessionId, prompt.id]
  }

  /** A guest does not say itself that a message was stored. */
  function publish([kind, sessionId]: Key, stored: object, isNew: boolean): void {
    if (kind !== "message") return
    const message = Message.parse(stored)
    Bus.publish(isNew ? MessageStore.Created : MessageStore.Updated, { sessionId: sessionId!, message })
  }

  async function remove(args: unknown): Promise<void> {
    const { key } = Get.parse(args)
    const [kind, owner, id] = key
    if (kind === "message" && id !== undefined && key.length === 3) sessions.get(owner)
    else if (!isOwnJob(key) && !(await isOwnPrompt(key))) throw new Refused("the right to remove this record")
    await Storage.remove(key)
  }

  async function refuseRead(key: Key): Promise<void> {
    const [kind, owner, id] = key
    const isOwn =
      (["message", "turn", "relation"].includes(kind!) && sessions.has(owner)) ||
      (kind === "session" && owner === Instance.project.id && sessions.has(id)) ||
      (["grant", "last-session"].includes(kind!) && owner === Instance.project.id) ||
      kind === "space" ||
      (kind === "trust" && owner === Reviewed.keyOf(Instance.worktree)[1]) ||
      isOwnJob(key) ||
      (await isOwnPrompt(key))
    if (!isOwn) throw new Refused(`the record ${key.join("/")}`)
  }

  /** By the key alone. Whether a session that exists is the guest's own is known when its record is read. */
  async function refuseWrite([kind, owner, ...rest]: Key): Promise<void> {
    const parts = kinds.get(kind!)
    if (parts !== rest.length + 2) throw new Refused(`the right to write a record ${kind}`)
    if (kind !== "session" && kind !== "last-session") sessions.get(owner)
    else if (owner !== Instance.project.id) throw new Refused("other projects")
    if (kind === "session" && !sessions.has(rest[0])) await refuseTaken(rest[0]!)
  }

  /** A new session is that of a task, whose agent must exist. Messages are found by the session's id alone, so its id must
   * not be that of a session in another project. */
  async function refuseTaken(id: string): Promise<void> {
    await AgentRegistry.load()
    if ((await Storage.list(["message", id])).length) throw new Refused("other sessions")
  }

  /** The value that is stored, or an error. */
  function checked(key: Key, value: unknown, before: unknown): object {
    const [kind, owner, id] = key
    if (typeof value !== "object" || value === null) throw new Refused("records that are no objects")
    if (kind === "session") return sessions.accept(id!, value, before)
    if (kind === "last-session") return { sessionId: sessions.root.id }
    if (kind === "message") {
      const message = Message.parse(value)
      if (message.id !== id || message.sessionId !== owner) throw new Refused("messages of other sessions")
      refuseForged(message, before)
      if (prompt && !prompt.isJob && message.promptId === prompt.id) prompt.hasBegun = true
    }
    return value
  }

  /** An undo, outside of the sandbox, writes what the snapshots of a session say: only the parent's own may be stored. */
  function refuseForged(message: Message.Info, before: unknown): void {
    if (message.type === "system_control" && !controls.has(message.data.control))
      throw new Refused(`the right to write "${message.data.control}"`)
    if (message.type !== "tool_request") return
    const old = new Map(callsOf(before).map(({ id, snapshot }) => [id, snapshot]))
    for (const { id, snapshot } of message.data.calls)
      if (snapshot !== undefined && !isOwn(snapshot) && !isDeepStrictEqual(snapshot, old.get(id)))
        throw new Refused("snapshots of its own")
  }

  function isOwnJob([kind, owner]: Key): boolean {
    return kind === "job" && owner === sessions.root.id
  }

  /** The parent may have removed its record. */
  async function isOwnPrompt([kind, id, ...rest]: Key): Promise<boolean> {
    if (kind !== "prompt" || rest.length) return false
    const prompt = await StoredPrompt.find({ id: id!, sessionId: sessions.root.id })
    return !prompt || prompt.sessionId === sessions.root.id
  }

  async function ownPrompts(): Promise<string[]> {
    return (await StoredPrompt.listPlain(sessions.root.id)).map(({ id }) => id)
  }

  function count(text: string): void {
    written += text.length
    if (written > mostWritten) throw new Refused("more space for records of this prompt")
  }

  const read = fewAtOnce(1, drained)
  const change = fewAtOnce(mostChanges, drained)
  return Object.freeze({
    ...{ get: read(get), many: read(many), list },
    ...{ put: change(put), swap: change(swap), remove: change(remove) },
  })
}

function parse(text: string): unknown {
  if (isTooComplex(text)) throw new Refused("records with so many values, or so deep ones")
  return JSON.parse(text)
}

function callsOf(record: unknown): Message.Call[] {
  const message = record === undefined ? undefined : Message.parse(record)
  return message?.type === "tool_request" ? message.data.calls : []
}

function isEmpty(draft: object): boolean {
  return Object.keys(draft).length === 0
}

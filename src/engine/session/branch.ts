// Branches: named paths through the messages of a session; one is active. A branch begins with a message that creates it,
// so an empty branch exists too, and export and import carry it along.
import { z } from "zod"
import * as Queue from "#engine/queue/queue.ts"
import { writeControl } from "#engine/record/append.ts"
import { pathTo } from "#engine/record/history.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { NamedError } from "#util/error.ts"
import { MessageNotFound } from "./fork.ts"

export const Branch = z.object({
  name: z.string(),
  active: z.boolean().describe("prompts continue here"),
  tip: z.string().nullable().describe("its last message"),
  count: z.number().describe("messages from the first to the last, those shared with others too"),
  from: z
    .object({ branch: z.string(), messageId: z.string() })
    .optional()
    .describe("the message at which it was created; it shares everything up to that message"),
})
export type Branch = z.infer<typeof Branch>

/** The branch that every session has, also before its first message. */
const first = "main"
const longest = 64

export class InvalidBranch extends NamedError {
  constructor(name: string) {
    super(
      "Session.InvalidBranch",
      `${JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name)} cannot be the name of a branch: it is ` +
        `1 to ${longest} letters, digits, "_", "-", "." and "/", and begins with a letter, a digit or "_".`,
      { name: name.slice(0, 200) },
    )
  }
}

export class BranchNotFound extends NamedError {
  constructor(sessionId: string, name: string, available: string[]) {
    super(
      "Session.BranchNotFound",
      `Session ${sessionId} has no branch ${JSON.stringify(name)}. Available: ${available.join(", ")}`,
      { sessionId, name, available },
    )
  }
}

export class BranchExists extends NamedError {
  constructor(sessionId: string, name: string) {
    super(
      "Session.BranchExists",
      `Session ${sessionId} has a branch ${JSON.stringify(name)} already, so it cannot be made at another message. ` +
        "Switch to it, or choose another name.",
      { sessionId, name },
    )
  }
}

/**
 * Create a branch at a message (`from`, default: the last one of the active branch; null: before the first one) and
 * switch to it. An existing branch is only switched to. A busy session throws `Session.Busy`.
 */
export function branch(
  sessionId: string,
  name: string,
  options: { from?: string | null | undefined } = {},
): Promise<SessionRecord.Info> {
  return goTo(sessionId, name, (messages, active) => {
    if (!namesOf(messages, active).includes(name)) return placeOf(messages, { active, sessionId, ...options })
    if (options.from !== undefined) throw new BranchExists(sessionId, name)
    return undefined
  })
}

/** An unknown branch throws `Session.BranchNotFound`. Switching to the active one does nothing. */
export function switchBranch(sessionId: string, name: string): Promise<SessionRecord.Info> {
  return goTo(sessionId, name, (messages, active) => {
    const names = namesOf(messages, active)
    if (!names.includes(name)) throw new BranchNotFound(sessionId, name, names)
    return undefined
  })
}

/** The branches of a session, the oldest first. */
export async function branches(sessionId: string): Promise<Branch[]> {
  const { branch: active } = await SessionRecord.get(sessionId)
  const messages = await MessageStore.list(sessionId)
  return namesOf(messages, active).map((name) => {
    const path = pathTo(messages, name)
    const from = originOf(messages, name)
    return {
      name,
      active: name === active,
      tip: path.at(-1)?.id ?? null,
      count: path.length,
      ...(from ? { from } : {}),
    }
  })
}

/** The messages of a branch in order. An unknown branch throws `Session.BranchNotFound`. */
export function messagesOf(messages: Message.Info[], { id, branch }: SessionRecord.Info, name: string) {
  const names = namesOf(messages, branch)
  if (!names.includes(name)) throw new BranchNotFound(id, name, names)
  return pathTo(messages, name)
}

export function isName(name: string): boolean {
  return name.length <= longest && /^\w[\w.-]*(\/[\w.-]+)*$/.test(name)
}

/** `place` gives the message after which a new branch begins; undefined if the branch exists. */
async function goTo(
  sessionId: string,
  name: string,
  place: (messages: Message.Info[], active: string) => { at: string | null } | undefined,
): Promise<SessionRecord.Info> {
  if (!isName(name)) throw new InvalidBranch(name)
  return Queue.enter({ sessionId, whenBusy: "refuse" }, async () => {
    await Queue.whileBusy({ sessionId, after: () => ({ branch: name }) }, async ({ branch: from }) => {
      const messages = await MessageStore.list(sessionId)
      const begins = place(messages, from)
      if (!begins && name === from) return
      const at = begins ? begins.at : (pathTo(messages, name).at(-1)?.id ?? null)
      await writeControl({ sessionId, branch: name, parentId: at }, "branch_switch", { from, to: name, at })
      const { restorePlan } = await import("#engine/record/plan-nodes.ts")
      await restorePlan(sessionId, name)
    })
    return SessionRecord.get(sessionId)
  })
}

function placeOf(
  messages: Message.Info[],
  { active, sessionId, from }: { active: string; sessionId: string; from?: string | null | undefined },
): { at: string | null } {
  if (from === null) return { at: null }
  if (from === undefined) return { at: pathTo(messages, active).at(-1)?.id ?? null }
  if (messages.some(({ id }) => id === from)) return { at: from }
  throw new MessageNotFound(sessionId, from, "session")
}

function namesOf(messages: Message.Info[], active: string): string[] {
  return [...new Set([first, ...messages.map(({ branch }) => branch), active])]
}

/** Where a branch was created: its first switch follows a message of another branch, later ones follow its own
 * messages. */
function originOf(messages: Message.Info[], name: string): Branch["from"] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  for (const { branch, parentId, type, data } of messages) {
    if (name === first || branch !== name || type !== "system_control") continue
    const origin = parentId === null ? undefined : byId.get(parentId)
    if (data.control === "branch_switch" && origin && origin.branch !== name)
      return { branch: origin.branch, messageId: origin.id }
  }
  return undefined
}

// Export and import of sessions as JSON, with all their messages, plans and images.
import { z } from "zod"
import * as ImageStore from "#ability/image/image-store.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import { ownPerson } from "#engine/record/session-access.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText, NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { isName } from "./branch.ts"
import { copyable } from "./fork.ts"
import { Relation } from "./plan.ts"

const Exported = z.object({
  vitamin: z.literal(1),
  session: SessionRecord.Info,
  messages: z.array(z.unknown()),
  relations: z.array(Relation).optional().describe("its plan"),
  images: z.record(z.string(), z.string()).optional().describe("in base64, by their SHA-256"),
})
export type Exported = z.infer<typeof Exported>

export class InvalidImport extends NamedError {
  constructor(reason: string) {
    super("Session.InvalidImport", `This is not an exported session: ${reason}`)
  }
}

/** A session with all its messages, of every branch. */
export async function exportSession(sessionId: string): Promise<Exported> {
  const session = await SessionRecord.get(sessionId)
  const messages = await MessageStore.list(sessionId)
  await ImageStore.fetchShared(sessionId)
  const images = takeImages(sessionId, messages)
  const relations = await TodoList.nodes(sessionId)
  return {
    vitamin: 1,
    session,
    messages: messages.map((message) => JSON.parse(Message.serialize(message))),
    ...(relations.length ? { relations } : {}),
    ...(images ? { images } : {}),
  }
}

/** Import a session into the current project, under its own id if that is free. */
export async function importSession(data: unknown): Promise<SessionRecord.Info> {
  const parsed = Exported.safeParse(data)
  if (!parsed.success) throw new InvalidImport(z.prettifyError(parsed.error).replaceAll("\n", " "))
  const given = copyable(parsed.data.session)
  const id = (await isFree(given.id)) ? given.id : createId("sess")
  const [first] = parsed.data.messages as { sessionId?: string }[]
  const from = first?.sessionId ?? given.id
  const messages = parsed.data.messages.map((message) => messageOf(message, { from, to: id }))
  const problem = checkChain(messages)
  if (problem) throw new InvalidImport(problem)
  const images = await readImages(parsed.data.images).catch((error: unknown) => {
    throw new InvalidImport(errorText(error))
  })
  const { importNodes } = await import("#ability/plan/todo-plan.ts")
  const relations = orInvalid(() => importNodes(parsed.data.relations ?? []))
  const session: SessionRecord.Info = {
    ...given,
    ...ownPerson({}),
    id,
    // An active branch without messages would hide the conversation.
    branch: messages.some(({ branch }) => branch === given.branch) ? given.branch : "main",
    projectId: Instance.project.id,
    directory: SessionRecord.placeOf(id, {}),
    status: "idle",
  }
  await keepImages(id, images)
  await Promise.all(messages.map((message) => MessageStore.write(message)))
  await TodoList.write(id, relations)
  await SessionRecord.write(session)
  Bus.publish(SessionRecord.Created, { sessionId: session.id, session })
  return session
}

/** Parses and checks one message. All messages are checked before anything is written. */
function messageOf(value: unknown, session: { from: string; to: string }): Message.Info {
  return orInvalid(() => {
    const { id, sessionId = session.from } = (value ?? {}) as Partial<Message.Info>
    if (sessionId !== session.from) throw new Error(`message ${id} is of another session, ${sessionId}`)
    const message = Message.parse(value, { sessionId: session.to })
    const problem = problemOf(message)
    if (!problem) return withoutSnapshots(message)
    throw new Error(problem)
  })
}

/** What is wrong with messages that do not form one session: an id occurs twice, a parent is missing, or there is a cycle. */
function checkChain(messages: readonly Message.Info[]): string | undefined {
  const parents = new Map<string, string | null>()
  for (const { id, parentId } of messages) {
    if (parents.has(id)) return `message ${id} occurs twice`
    parents.set(id, parentId)
  }
  for (const [id, parentId] of parents)
    if (parentId !== null && !parents.has(parentId))
      return `message ${id} follows ${parentId}, which does not exist`
  const circle = inCircle(parents)
  return circle === undefined ? undefined : `message ${circle} is its own ancestor`
}

function inCircle(parents: ReadonlyMap<string, string | null>): string | undefined {
  const rooted = new Set<string>()
  for (const start of parents.keys()) {
    const path = new Set<string>()
    let id: string | null = start
    for (; id !== null && !rooted.has(id); id = parents.get(id) ?? null) {
      if (path.has(id)) return id
      path.add(id)
    }
    for (const one of path) rooted.add(one)
  }
  return undefined
}

function orInvalid<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new InvalidImport(errorText(error))
  }
}

function problemOf({ id, branch }: Message.Info): string | undefined {
  if (!isSafe(id)) return "a message has an id that cannot be a file name"
  return isName(branch) ? undefined : `message ${id} is on a branch whose name cannot be used`
}

/** Snapshots of another machine cannot be undone here, and must not refer to objects of this store. */
function withoutSnapshots(message: Message.Info): Message.Info {
  if (message.type === "tool_request") for (const call of message.data.calls) delete call.snapshot
  if (message.type !== "system_control") return message
  const { snapshot: _, ...parameters } = message.data.parameters
  return { ...message, data: { ...message.data, parameters } }
}

async function isFree(sessionId: string): Promise<boolean> {
  if (!isSafe(sessionId)) return false
  return (await SessionRecord.find(sessionId)) === undefined
}

/** Ids become file names, and an import may come from anywhere. */
function isSafe(id: string): boolean {
  return /^\w[\w-]{0,99}$/.test(id)
}

/** The images of a session in base64, by their hashes; undefined if there are none. */
function takeImages(
  sessionId: string,
  messages: readonly Message.Info[],
): Record<string, string> | undefined {
  const images: Record<string, string> = {}
  for (const message of messages) {
    const hash = message.type === "image" ? message.data.stored?.hash : undefined
    const bytes = hash && !Object.hasOwn(images, hash) ? ImageStore.read(sessionId, hash) : undefined
    if (hash && bytes) images[hash] = bytes.toString("base64")
  }
  return Object.keys(images).length ? images : undefined
}

/** Throws for bytes that are not an image, before anything is stored. */
async function readImages(images: Record<string, string> = {}): Promise<Buffer[]> {
  const all = Object.values(images).map((base64) => Buffer.from(base64, "base64"))
  const { imageFormat } = await import("#ability/image/image-format.ts")
  for (const bytes of all) await imageFormat(bytes)
  return all
}

async function keepImages(sessionId: string, images: readonly Buffer[]): Promise<void> {
  for (const bytes of images) await ImageStore.write(sessionId, bytes)
}

// Export and import of sessions: complete as JSON, or as Markdown for reading.
import { z } from "zod"
import * as ImageStore from "#ability/image/image-store.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import { historyOf } from "#engine/record/history.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText, NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { isName } from "./branch.ts"
import { checkChain } from "./check-chain.ts"
import { describeControl } from "./describe-control.ts"
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

/** The active branch as Markdown, for people. */
export async function exportMarkdown(sessionId: string): Promise<string> {
  const session = await SessionRecord.get(sessionId)
  const history = await historyOf(sessionId, session.branch)
  return [`# ${session.title || session.id}`, "", ...history.flatMap(section)].join("\n")
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
    id,
    // An active branch without messages would hide the conversation.
    branch: messages.some(({ branch }) => branch === given.branch) ? given.branch : "main",
    projectId: Instance.project.id,
    directory: Instance.directory,
    status: "idle",
  }
  await keepImages(id, images)
  await Promise.all(messages.map((message) => MessageStore.write(message)))
  await TodoList.write(id, relations)
  await SessionRecord.write(session)
  Bus.publish(SessionRecord.Created, { sessionId: session.id, session })
  return session
}

/** Everything is checked before anything is written. */
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
  return SessionRecord.get(sessionId).then(
    () => false,
    (error) => error instanceof SessionRecord.NotFound,
  )
}

/** Ids become file names, and an import may come from anywhere. */
function isSafe(id: string): boolean {
  return /^\w[\w-]{0,99}$/.test(id)
}

function section(message: Message.Info): string[] {
  switch (message.type) {
    case "text": {
      const text = message.data.parts
        .map((part) => (part.type === "text" ? part.text : quote(part.text)))
        .join("\n\n")
      return [`## ${message.data.role}`, "", text, ""]
    }
    case "tool_request":
      return message.data.calls.flatMap((call) => [
        `**${call.name}** ${fence(call.invalid ?? JSON.stringify(call.arguments))}`,
        "",
      ])
    case "tool_result": {
      const { output, status } = message.data
      const text = typeof output === "string" ? output : JSON.stringify(output, null, 2)
      return details(status, text)
    }
    case "file_reference": {
      const { status, content, error } = message.data
      const name = `@${Message.fileName(message.data)}`
      return content === undefined ? [`${name} (${error ?? status})`, ""] : details(name, content)
    }
    case "image":
      return [`(image, ${message.data.state})`, ""]
    case "mcp_resource":
      return [`(resource ${message.data.resourceUri} of ${message.data.serverName})`, ""]
    case "system_control":
      return [`*${describeControl(message.data)}*`, ""]
    case "unknown":
      return ["*a message of an unknown type*", ""]
  }
}

function details(summary: string, text: string): string[] {
  return [
    "<details>",
    `<summary>${summary}</summary>`,
    "",
    "```",
    text.replaceAll("```", "` ` `"),
    "```",
    "",
    "</details>",
    "",
  ]
}

function fence(text: string): string {
  return `\`${text.replaceAll("`", "'")}\``
}

function quote(text: string): string {
  return text.replace(/^/gm, "> ")
}

/** The images of an exported or imported session, by their hashes, in base64; undefined if there are none. */
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

/** Bytes that are no image throw before anything is stored. */
async function readImages(images: Record<string, string> = {}): Promise<Buffer[]> {
  const all = Object.values(images).map((base64) => Buffer.from(base64, "base64"))
  const { imageFormat } = await import("#ability/image/image-format.ts")
  for (const bytes of all) await imageFormat(bytes)
  return all
}

async function keepImages(sessionId: string, images: readonly Buffer[]): Promise<void> {
  for (const bytes of images) await ImageStore.write(sessionId, bytes)
}

// Turns the attachments of a prompt into messages after its text. Each is resolved before the model is asked. One
// that cannot be resolved is stored with the reason, and the prompt continues.
import { isDeepStrictEqual } from "node:util"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import { sessionChain } from "#engine/offer/tools-for.ts"
import { append, keep, lastId, type Write } from "#engine/record/append.ts"
import { wholeHistory } from "#engine/record/history.ts"
import { Notice } from "#engine/record/notice.ts"
import type { Attachment, PromptPart } from "#engine/record/prompt-part.ts"
import type { Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createAttaching } from "./attaching.ts"
import { findReferences, findResources, type Misspelt, referenceTo } from "./find-references.ts"
import { interrupted, recognizeImage } from "./recognize-image.ts"
import { resolveFile } from "./resolve-file.ts"

type Place = Pick<Run, "session" | "progress" | "signal" | "chosen" | "timing" | "permits" | "editor"> & {
  /** The notices of this prompt; each is published once. */
  told: Set<string>
  first?: First | undefined
}
/** For the first message of a prompt that has a record: it names the record. */
type First = { promptId: string; write: Write }
type Attached = Message.Of<"file_reference" | "image" | "mcp_resource">
type Options = {
  parts: PromptPart[]
  /** The text in which `@path` is a reference. */
  mentionsIn: string
  /** First read changed files again, and retry failed attachments. */
  refresh?: boolean
  first?: First | undefined
}

export async function attach(
  run: Omit<Place, "told" | "first">,
  { parts, mentionsIn, refresh, first }: Options,
): Promise<void> {
  const place: Place = { ...run, told: new Set(), first }
  if (refresh) await refreshAll(place)
  const { resources, rest, misspelt } = await resourcesIn(mentionsIn, place)
  reportMisspelt(place, misspelt)
  for (const attachment of attachmentsOf([...parts, ...resources], rest)) {
    append(place, await resolveOrLeave(pending(place, attachment), place), place.first?.write)
    place.first = undefined
  }
  place.signal.throwIfAborted()
}

async function refreshAll(place: Place): Promise<void> {
  const { session, progress, signal } = place
  const { history, records } = progress
  const whole = await wholeHistory(session, history)
  const older = whole.length - history.length
  for (const [i, message] of whole.entries()) {
    if (!isAttached(message) || (message.type === "image" && message.data.state === "done")) continue
    const now = await resolve(message, place)
    signal.throwIfAborted()
    // A person who retries a failed attachment is told if it fails again.
    if (isDeepStrictEqual(now.data, message.data) && now.data.error === undefined) continue
    if (i >= older) history[i - older] = now
    keep(records, MessageStore.write(now))
  }
  // If this prompt joined a running one, its window was built before the attachments changed.
  Memory.shortTerm(session.id).renew()
}

/** References to resources of MCP servers. The servers are read only if the text has `@…:`. */
async function resourcesIn(
  mentionsIn: string,
  { session }: Place,
): Promise<ReturnType<typeof findResources>> {
  if (!/@[^@]*:/.test(mentionsIn)) return { resources: [], misspelt: [], rest: mentionsIn }
  const Mcp = await ifConfigured()
  const servers = (await Mcp?.list(await sessionChain(session))) ?? []
  return findResources(
    mentionsIn,
    servers.map(({ id }) => id),
  )
}

function reportMisspelt(place: Place, misspelt: Misspelt[]): void {
  for (const { word, serverName, meant } of misspelt) {
    const hint = meant === undefined ? "" : ` Did you mean "@${meant}"?`
    const text = `"@${word}" was not attached: there is no MCP server "${serverName}".${hint}`
    Bus.publish(Notice, { sessionId: place.session.id, messageId: lastId(place) ?? "", text })
  }
}

/** Attachments first, then references in the text, each once. An image replaces a reference to the same file. */
function attachmentsOf(parts: PromptPart[], mentionsIn: string): Attachment[] {
  const found = new Map<string, Attachment>()
  for (const part of [...parts, ...findReferences(mentionsIn)]) {
    if (part.type === "text") continue
    const attachment = located(part)
    const key = keyOf(attachment)
    if (attachment.type === "image" || !found.has(key)) found.set(key, attachment)
  }
  return [...found.values()]
}

function located(part: Attachment): Attachment {
  if (part.type === "file_reference") return { ...part, ...referenceTo(part.path) }
  if (part.type === "mcp_resource") return part
  const { source } = part
  if (source.kind !== "file") return part
  return { ...part, source: { ...source, value: referenceTo(source.value).path } }
}

function keyOf(attachment: Attachment): string {
  if (attachment.type === "file_reference") {
    const { path, startLine, endLine } = attachment
    return JSON.stringify([path, startLine, endLine])
  }
  if (attachment.type === "mcp_resource")
    return JSON.stringify([attachment.serverName, attachment.resourceUri, "resource"])
  const { kind, value } = attachment.source
  return kind === "file" ? JSON.stringify([value, undefined, undefined]) : `${kind} ${value}`
}

function pending(place: Place, attachment: Attachment): Attached {
  const { id: sessionId, branch } = place.session
  const promptId = place.first?.promptId
  const base = { sessionId, parentId: lastId(place), branch, ...(promptId ? { promptId } : {}) }
  if (attachment.type === "image") {
    const { source, mode = "auto", stored } = attachment
    const data = { source, mode, state: "pending" as const, ...(stored ? { stored } : {}) }
    return Message.make({ ...base, type: "image", data })
  }
  if (attachment.type === "mcp_resource") {
    const { type, ...address } = attachment
    return Message.make({ ...base, type, data: { ...address, content: "", retrievedAt: 0 } })
  }
  const { type, ...asked } = attachment
  return Message.make({ ...base, type, data: { ...asked, status: "pending" } })
}

/** Attachments that an interruption leaves unresolved stay in the history, to be resolved later. */
async function resolveOrLeave(message: Attached, place: Place): Promise<Attached> {
  try {
    if (!place.signal.aborted) return await resolve(message, place)
  } catch (error) {
    if (!place.signal.aborted) throw error
  }
  if (message.type === "mcp_resource")
    return { ...message, data: { ...message.data, error: "The prompt was interrupted before it was read." } }
  return message.type === "image" ? { ...message, data: interrupted(message.data) } : message
}

async function resolve(message: Attached, place: Place): Promise<Attached> {
  const attaching = createAttaching(message, place)
  if (message.type === "image") return { ...message, data: await recognizeImage(message.data, attaching) }
  if (message.type === "mcp_resource") {
    const { resolveResource } = await import("./resolve-resource.ts")
    return { ...message, data: await resolveResource(message, attaching, place) }
  }
  const data = await resolveFile(message, attaching)
  if (data !== "image") return { ...message, data }
  const source = { kind: "file" as const, value: message.data.path }
  const image = await recognizeImage({ source, mode: "auto", state: "pending" }, attaching)
  return { ...message, type: "image", data: image }
}

function isAttached(message: Message.Info): message is Attached {
  return ["file_reference", "image", "mcp_resource"].includes(message.type)
}

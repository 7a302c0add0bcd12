// Reads a referenced resource of an MCP server, if allowed. A recent read in this branch is reused. Errors are stored
// in the message; only an abort throws.

import { isUtf8 } from "node:buffer"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { maxShown } from "#ability/call/output.ts"
import { outputFolder } from "#ability/call/output-folder.ts"
import { boundText, failure } from "#ability/call/result.ts"
import { shareOutput } from "#ability/call/shared-output.ts"
import type { MCPResourceContent } from "#ability/mcp/mcp.ts"
import { readResource, resourceTool } from "#ability/mcp/read-resource.ts"
import { canSummarize, summarizeDocument } from "#engine/compaction/summarize.ts"
import type { Chosen } from "#engine/model/choose-model.ts"
import { sessionChain } from "#engine/offer/tools-for.ts"
import { addUsage } from "#engine/record/session-record.ts"
import { limitOf } from "#engine/run/budget.ts"
import { textWithin } from "#engine/run/fit-tokens.ts"
import type { Run } from "#engine/run/run.ts"
import * as Config from "#kernel/config/config.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { estimateTokens, isBinary } from "#knowledge/memory/tokens.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { plainText } from "#util/plain-text.ts"
import { fitsText } from "#util/wildcard.ts"
import type { Attaching } from "./attaching.ts"

type Resource = Message.Of<"mcp_resource">
type Data = Resource["data"]

/** What is needed to ask the model. */
type Fitting = Pick<Run, "signal" | "progress" | "timing"> & { chosen: Chosen }

/** Seconds that a read stays valid, if the configuration does not say otherwise for the type. */
const usualAge = 3_600
/** Limits for contents that are sent as they are. */
const maxBytes = 4 << 20
const maxText = 4 << 20
/** The share of the budget for one resource: several are often attached, and the conversation continues. */
const share = 0.25
const shown = /^(image\/(png|jpeg|webp|gif)|application\/pdf)$/

class Unusable extends NamedError {
  constructor(message: string) {
    super("Session.UnusableResource", message)
  }
}

export async function resolveResource(
  message: Resource,
  attaching: Attaching,
  place: Pick<Run, "session" | "progress"> & Fitting,
): Promise<Data> {
  const { session, progress } = place
  const { serverName, resourceUri } = message.data
  const asked = { serverName, resourceUri }
  try {
    const context = await attaching.permit(resourceTool, asked)
    const known = await freshOne(asked, progress.history)
    if (known) return known
    const contents = await readResource(asked, context, await sessionChain(session))
    const fit = (text: string) => fitResource(text, message, place)
    return { ...asked, ...(await readContents(contents, attaching, fit)), retrievedAt: Date.now() }
  } catch (error) {
    attaching.signal.throwIfAborted()
    const { text } = await failure(error, attaching.context)
    if (message.data.retrievedAt > 0 && message.data.error === undefined) {
      attaching.tell(`${serverName}:${resourceUri} could not be read again and stays as it was: ${text}`)
      return message.data
    }
    return { ...asked, content: "", retrievedAt: Date.now(), error: text }
  }
}

/** The last read, if it is recent enough for its type. */
async function freshOne(asked: Pick<Data, "serverName" | "resourceUri">, history: readonly Message.Info[]) {
  const known = history.findLast(
    (message): message is Resource =>
      message.type === "mcp_resource" &&
      message.data.serverName === asked.serverName &&
      message.data.resourceUri === asked.resourceUri &&
      message.data.error === undefined,
  )
  return known && (await isFresh(known.data)) ? known.data : undefined
}

async function isFresh({ retrievedAt, mimeType = "" }: Data): Promise<boolean> {
  const { mcp } = await Config.get()
  const ages = Object.entries(mcp?.resourceAge ?? {}).sort(([a], [b]) => b.length - a.length)
  const [, seconds = usualAge] = ages.find(([type]) => fitsText(type, mimeType)) ?? []
  const age = Date.now() - retrievedAt
  return age >= 0 && age < seconds * 1_000
}

/** One content that can be shown as it is, or the text of all of them. */
async function readContents(
  contents: MCPResourceContent[],
  { context }: Attaching,
  fit: (text: string) => Promise<string>,
): Promise<Pick<Data, "content" | "mimeType">> {
  const [first, ...more] = contents
  if (!first) throw new Unusable("The server returned no content for it.")
  const { mimeType, blob } = first
  if (!more.length && blob !== undefined && mimeType && shown.test(mimeType)) {
    const bytes = Buffer.byteLength(blob, "base64")
    if (bytes > maxBytes)
      throw new Unusable(`It is too large to be shown: ${bytes} bytes; ${maxBytes} are possible.`)
    return { content: blob, mimeType: await typeOf(Buffer.from(blob, "base64")) }
  }
  const texts = contents.map((one) => (more.length ? `[${plainText(one.uri, 500)}]\n` : "") + wordsOf(one))
  const text = plainText(texts.join("\n\n"), maxText)
  const type = mimeType && !isBinary(mimeType) ? { mimeType: plainText(mimeType, 100) } : {}
  // A text within the token budget may still exceed the limit for results.
  return { content: await boundText(await fit(text), context), ...type }
}

/** The type of the bytes, whatever the server says: a provider would refuse a wrong one, in every later request too. */
async function typeOf(bytes: Buffer): Promise<string> {
  if (bytes.subarray(0, 1_024).includes("%PDF-")) return "application/pdf"
  const { imageFormat } = await import("#ability/image/image-format.ts")
  return (await imageFormat(bytes)).mimeType
}

function wordsOf({ text, blob = "", mimeType = "binary" }: MCPResourceContent): string {
  if (text !== undefined) return text
  const bytes = Buffer.from(blob, "base64")
  const isText = isUtf8(bytes) && !bytes.includes(0)
  return isText ? bytes.toString() : `[${mimeType}: ${bytes.length} bytes, which cannot be read here]`
}

/** Fits the text of a resource into the budget: as it is, as a summary by the session's model, or as its beginning and end.
 * The whole text is stored in a file, which the shorter form names. */
async function fitResource(
  words: string,
  message: Message.Of<"mcp_resource">,
  fitting: Fitting,
): Promise<string> {
  const limit = limitOf(fitting.chosen)
  const budget = Math.floor(limit * share)
  const text = Secret.redact(words)
  // At most `maxShown` characters are sent, so the rest need not be counted.
  if (estimateTokens(text.slice(0, maxShown)) <= budget) return text
  const file = await keepWhole(text, message)
  const { chosen, signal, timing, progress } = fitting
  const asking = { sessionId: message.sessionId, chosen, signal, timing }
  const count = (usage: Message.Usage) => addUsage(progress.totals, usage)
  const summary = canSummarize(chosen)
    ? await summarizeDocument(asking, { document: text, limit, budget, count })
    : undefined
  const where = `all ${text.length} characters are in ${file}, which read and grep can open`
  return summary ? `[a summary; ${where}]\n${summary}` : `[cut; ${where}]\n${textWithin(text, budget)}`
}

async function keepWhole(text: string, { sessionId, id }: Message.Info): Promise<string> {
  const folder = outputFolder(sessionId)
  const file = join(folder, `${id}.txt`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(file, text, { mode: 0o600 })
  await shareOutput(sessionId, file)
  return file
}

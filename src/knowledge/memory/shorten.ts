// Cuts the longest texts of a message in the middle, for the request. The stored message stays whole, and the cut
// names the file with the whole result.
import { dirname, join } from "node:path"
import type * as Message from "#knowledge/message/message.ts"
import { isBinary, outputText } from "./tokens.ts"

/** Deeper arguments are not shortened, because a model may nest them without limit. */
const deepest = 50
/** The marks of a cut that names the file with the whole text. */
const longestMark = 1_000
const mark = { start: "[… ", way: ", which read and grep can open", end: " …]" }

/** Returns the same message if nothing in it is too long. `files` is the folder of whole results. */
export function shorten(message: Message.Info, limit: number, files?: string): Message.Info {
  switch (message.type) {
    case "tool_result":
      return shortenResult(message, limit, files)
    case "tool_request":
      return shortenRequest(message, limit)
    case "file_reference": {
      const { content = "", path } = message.data
      if (!isLong(content, limit)) return message
      return { ...message, data: { ...message.data, content: cut(content, limit, `read shows ${path}`) } }
    }
    case "mcp_resource":
      if (!isLong(message.data.content, limit) || isBinary(message.data.mimeType)) return message
      return { ...message, data: { ...message.data, content: cut(message.data.content, limit) } }
    default:
      return message
  }
}

/** The file for the whole result before it is cut; undefined if it is stored already or not cut. */
export function fileFor(message: Message.Info, limit: number, files: string): string | undefined {
  if (message.type !== "tool_result") return undefined
  const text = outputText(message.data)
  return isLong(text, limit) && !keptBefore(text, files) ? pathOf(message, files) : undefined
}

/** The beginning and the end, with a note about the rest between them. */
export function cut(text: string, limit: number, where = ""): string {
  const head = Math.floor(limit * 0.6)
  const tail = limit - head
  const note = `[… ${text.length - limit} of ${text.length} characters left out here to save tokens${where ? `; ${where}` : ""} …]`
  return `${text.slice(0, head).toWellFormed()}\n${note}\n${text.slice(text.length - tail).toWellFormed()}`
}

/** Cutting off less than the length of the note would save nothing. */
export function isLong(text: string, limit: number): boolean {
  return text.length > limit * 1.2 + 200
}

function shortenResult(message: Message.Of<"tool_result">, limit: number, files?: string): Message.Info {
  const { data } = message
  const text = outputText(data)
  const said = data.error?.message ?? ""
  if (!isLong(text, limit) && !isLong(said, limit)) return message
  const where = keptBefore(text, files) ?? (files ? `all of it in ${pathOf(message, files)}${mark.way}` : "")
  const short = isLong(text, limit) ? cut(text, limit, where) : text
  // The error message is shown before the output, unless the output contains it.
  const error = data.error && { ...data.error, message: short.includes(said) ? "" : cutLong(said, limit) }
  return { ...message, data: { ...data, output: short, ...(error ? { error } : {}) } }
}

/** The file that a tool names for its whole output. A result can say anything, so only the session's own folder
 * counts. */
function keptBefore(text: string, files: string | undefined): string | undefined {
  const end = text.indexOf(mark.way + mark.end)
  const start = text.lastIndexOf(mark.start, end)
  if (files === undefined || start < 0 || end - start > longestMark) return undefined
  const words = text.slice(start + mark.start.length, end)
  const path = words.slice(words.indexOf(files))
  return dirname(path) === files ? `${words}${mark.way}` : undefined
}

function shortenRequest(message: Message.Of<"tool_request">, limit: number): Message.Info {
  const calls = message.data.calls.map((call) => {
    const given = shortenJson(call.arguments, limit)
    const invalid = call.invalid === undefined ? undefined : cutLong(call.invalid, limit)
    if (given === call.arguments && invalid === call.invalid) return call
    return { ...call, arguments: given, ...(invalid === undefined ? {} : { invalid }) }
  })
  if (calls.every((call, i) => call === message.data.calls[i])) return message
  return { ...message, data: { calls } }
}

function shortenJson(value: Message.Json, limit: number, depth = 0): Message.Json {
  if (typeof value === "string") return cutLong(value, limit)
  if (typeof value !== "object" || value === null || depth > deepest) return value
  const entries = Object.entries(value as Message.JsonObject)
  const made = entries.map(
    ([name, one]) => [name, shortenJson(one as Message.Json, limit, depth + 1)] as const,
  )
  if (made.every(([, one], i) => one === entries[i]![1])) return value
  return Array.isArray(value) ? made.map(([, one]) => one) : Object.fromEntries(made)
}

function cutLong(text: string, limit: number): string {
  return isLong(text, limit) ? cut(text, limit) : text
}

function pathOf({ id }: Message.Info, files: string): string {
  return join(files, `${id}.txt`)
}

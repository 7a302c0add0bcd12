// The documents that a server has open, with the text that it was last told. Files that somebody changed on disk meanwhile
// are told again before each question.
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
import type { Connection } from "#ability/lsp/wire/connection.ts"
import { statOf } from "#util/file/path-info.ts"
import { changeBetween, type Encoding, type Lines, linesOf } from "./positions.ts"

export type Documents = Readonly<{
  /** Tells the server the text of a file. Returns the version, or undefined if it knew the text. */
  set(path: string, text: string): number | undefined
  /** Opens a file as it is on disk, unless it is open. False if it cannot be read. */
  open(path: string): boolean
  /** The text that the server was told. */
  text(path: string): string | undefined
  /** The text that the server was told, or that of the file. */
  lines(path: string): Lines | undefined
  /** Tells the server about files that changed on disk: those that are open, and those that are named. Returns whether
   * there was one. `except` was changed by the call itself. */
  refresh(named: readonly string[], except?: string): boolean
}>

type Document = { text: string; version: number; stamp: string }

/** More would only cost memory. The least recently used ones are closed. */
const maxOpen = 60
/** Bytes of a file that a server is asked about. */
export const maxFile = 1 << 20
const [isChanged, isDeleted] = [2, 3]

export function createDocuments(options: {
  connection: Pick<Connection, "notify">
  encoding: Encoding
  isIncremental: boolean
  languageOf: (path: string) => string
}): Documents {
  const { connection, encoding, isIncremental, languageOf } = options
  const all = new Map<string, Document>()

  function set(path: string, text: string): number | undefined {
    const before = all.get(path)
    const version = (before?.version ?? 0) + 1
    if (before?.text === text) {
      before.stamp = stampOf(path)
      return undefined
    }
    all.delete(path)
    all.set(path, { text, version, stamp: stampOf(path) })
    if (before) {
      const change = isIncremental ? changeBetween(before.text, text, encoding) : { text }
      connection.notify("textDocument/didChange", {
        textDocument: { uri: toUri(path), version },
        contentChanges: [change],
      })
    } else {
      connection.notify("textDocument/didOpen", {
        textDocument: { uri: toUri(path), languageId: languageOf(path), version, text },
      })
      for (const old of all.keys()) if (all.size > maxOpen) close(old)
    }
    return version
  }

  function open(path: string): boolean {
    if (all.has(path)) return true
    const text = read(path)
    if (text === undefined) return false
    set(path, text)
    return true
  }

  function close(path: string): void {
    if (all.delete(path)) connection.notify("textDocument/didClose", { textDocument: { uri: toUri(path) } })
  }

  function refresh(named: readonly string[], except?: string): boolean {
    const isKnown = (path: string) => path === except || all.get(path)?.stamp === stampOf(path)
    const changes = named.filter((path) => !isKnown(path))
    if (changes.length)
      connection.notify("workspace/didChangeWatchedFiles", {
        changes: changes.map((path) => ({ uri: toUri(path), type: statOf(path) ? isChanged : isDeleted })),
      })
    const stale = [...all].filter(([path]) => !isKnown(path))
    for (const [path] of stale) {
      const text = read(path)
      if (text === undefined) close(path)
      else set(path, text)
    }
    return changes.length > 0 || stale.length > 0
  }

  function lines(path: string): Lines | undefined {
    const text = all.get(path)?.text ?? read(path)
    return text === undefined ? undefined : linesOf(text)
  }

  return Object.freeze({ set, open, text: (path: string) => all.get(path)?.text, lines, refresh })
}

export function toUri(path: string): string {
  return pathToFileURL(path).href
}

/** Undefined if it is too large, or no regular file. */
function read(path: string): string | undefined {
  const stat = statOf(path)
  if (!stat?.isFile() || stat.size > maxFile) return undefined
  try {
    return readFileSync(path, "utf8").replace(/^\ufeff/, "")
  } catch {
    return undefined
  }
}

function stampOf(path: string): string {
  const stat = statOf(path)
  return stat ? `${stat.mtimeMs}.${stat.size}.${stat.ino}` : ""
}

// One running language server: what it can do, the documents that it knows, and questions to it.
import { fileURLToPath } from "node:url"
import { createConnection } from "#ability/lsp/wire/connection.ts"
import { version } from "#util/version.ts"
import { orAborted } from "#util/wait.ts"
import { answerServer } from "./answer-server.ts"
import { type Diagnostic, readDiagnostics } from "./diagnostic.ts"
import { createDocuments, type Documents, toUri } from "./documents.ts"
import type { Encoding, Position, Range } from "./positions.ts"
import { readRange } from "./positions.ts"

export type Definition = Readonly<{
  id: string
  command: readonly string[]
  env: Record<string, string>
  root: string
  languageOf: (path: string) => string
  initialization?: unknown
  settings?: unknown
}>

/** How a server reports diagnostics: it is asked for them, or it sends them by itself. */
type Abilities = { pulls: boolean; pullsWorkspace: boolean; wantsSave: boolean }
type Place = { path: string; range: Range }

export type Server = Readonly<{
  id: string
  root: string
  can: Abilities
  encoding: Encoding
  documents: Documents
  /** Published diagnostics, by path. */
  published: Published
  request(method: string, params: unknown, timeout?: number): Promise<unknown>
  notify(method: string, params: unknown): void
  reason(): string | undefined
  end(): Promise<void>
  kill(reason: string): void
}>

type Published = Readonly<{
  /** Grows with each publication. */
  serial(): number
  get(path: string): Publication | undefined
  all(): IterableIterator<[string, Publication]>
  /** Resolves at the next publication of any file. */
  next(): Promise<void>
}>
type Publication = { serial: number; version: number | undefined; items: readonly Diagnostic[] }

/** Bytes of memory that a server and its children may use. */
const maxMemory = 3 * 2 ** 30
const initializeLimit = 60_000
/** Files and diagnostics that are kept. */
const maxPublished = 2_000
const maxKept = 20_000

/** Starts the server. Rejects if it ends, does not answer in time, or the signal aborts before it does. */
export async function createServer(
  definition: Definition,
  { onEnd, signal }: { onEnd: (reason: string) => void; signal: AbortSignal },
): Promise<Server> {
  const { id, root, command, env, settings } = definition
  const { publish, published } = createPublished()
  const connection = createConnection({
    command,
    cwd: root,
    env,
    memory: maxMemory,
    onNotification(method, params) {
      if (method === "textDocument/publishDiagnostics") publish(params)
    },
    answer: (method, params) => answerServer({ root, settings }, method, params),
    onEnd,
  })
  let answer: unknown
  try {
    const asked = connection.request("initialize", initializeParams(definition), initializeLimit)
    answer = await orAborted(asked, signal)
  } catch (error) {
    connection.kill("it did not start")
    throw error
  }
  const capabilities = member(answer, "capabilities")
  const encoding = member(capabilities, "positionEncoding") === "utf-8" ? "utf-8" : "utf-16"
  connection.notify("initialized", {})
  if (settings !== undefined) connection.notify("workspace/didChangeConfiguration", { settings })
  const sync = member(capabilities, "textDocumentSync")
  const isIncremental = (typeof sync === "number" ? sync : member(sync, "change")) === 2
  return Object.freeze({
    ...{ id, root, encoding, published },
    can: abilitiesOf(capabilities),
    documents: createDocuments({ connection, encoding, isIncremental, languageOf: definition.languageOf }),
    request: connection.request,
    notify: connection.notify,
    reason: connection.reason,
    end: connection.end,
    kill: connection.kill,
  })
}

/** The path of a `file:` URI; undefined for anything else. */
export function toPath(uri: unknown): string | undefined {
  if (typeof uri !== "string" || !uri.startsWith("file:")) return undefined
  try {
    return fileURLToPath(uri)
  } catch {
    return undefined
  }
}

/** The places in the answer to a question for definitions or references. */
export function readPlaces(answer: unknown): Place[] {
  const items = Array.isArray(answer) ? answer : [answer ?? []].flat()
  return items.flatMap((item): Place[] => {
    const link = (item ?? {}) as Record<string, unknown>
    const path = toPath(link.uri ?? link.targetUri)
    const range = readRange(link.range ?? link.targetSelectionRange ?? link.targetRange)
    return path !== undefined && range ? [{ path, range }] : []
  })
}

export function positionParams(path: string, position: Position): object {
  return { textDocument: { uri: toUri(path) }, position }
}

function initializeParams({ root, initialization }: Definition): object {
  const uri = toUri(root)
  return {
    processId: process.pid,
    clientInfo: { name: "vitamin", version },
    rootUri: uri,
    rootPath: root,
    workspaceFolders: [{ uri, name: root }],
    ...(initialization === undefined ? {} : { initializationOptions: initialization }),
    capabilities: {
      general: { positionEncodings: ["utf-16", "utf-8"] },
      workspace: {
        configuration: true,
        workspaceFolders: true,
        didChangeConfiguration: { dynamicRegistration: false },
        didChangeWatchedFiles: { dynamicRegistration: false },
        workspaceEdit: { documentChanges: true },
      },
      textDocument: {
        synchronization: { didSave: true },
        publishDiagnostics: { versionSupport: true, relatedInformation: false },
        diagnostic: { dynamicRegistration: false, relatedDocumentSupport: true },
        definition: { linkSupport: true },
        references: {},
        rename: { prepareSupport: false },
      },
      window: { workDoneProgress: false, showDocument: { support: false } },
    },
  }
}

function abilitiesOf(capabilities: unknown): Abilities {
  const provider = member(capabilities, "diagnosticProvider")
  return {
    pulls: typeof provider === "object" && provider !== null,
    pullsWorkspace: member(provider, "workspaceDiagnostics") === true,
    wantsSave: Boolean(member(member(capabilities, "textDocumentSync"), "save")),
  }
}

function createPublished(): { publish(params: unknown): void; published: Published } {
  const all = new Map<string, Publication>()
  let kept = 0
  let serial = 0
  let waiting = Promise.withResolvers<void>()

  /** Keeps what a server sends, up to a bound. The bound applies at once, since nobody reads it before the next change. */
  function publish(params: unknown): void {
    const path = toPath(member(params, "uri"))
    const given = member(params, "version")
    if (path === undefined || (!all.has(path) && all.size >= maxPublished)) return
    kept -= all.get(path)?.items.length ?? 0
    const items = readDiagnostics(path, member(params, "diagnostics")).slice(0, maxKept - kept)
    kept += items.length
    const version = typeof given === "number" ? given : undefined
    all.set(path, { serial: ++serial, version, items })
    waiting.resolve()
    waiting = Promise.withResolvers<void>()
  }

  const published = Object.freeze({
    serial: () => serial,
    get: (path: string) => all.get(path),
    all: () => all.entries(),
    next: () => waiting.promise,
  })
  return { publish, published }
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

// A language server that behaves as its first argument says. It reports the word BAD in its documents, by itself (push), or when
// it is asked (modes `workspace` and `holds`). The word BREAKS in a.odd is a problem of b.odd.
// What it receives is written to the file ODD_LOG, one JSON message per line, and its process id to ODD_PID.
import { appendFileSync, writeFileSync } from "node:fs"

type Message = { id?: number; method?: string; params?: unknown; result?: unknown }
type Told = {
  textDocument: { uri: string; text: string; version: number }
  contentChanges: { text: string }[]
}

const [mode = "plain"] = process.argv.slice(2)
const documents = new Map<string, { text: string; version: number }>()
/** What was last published of each. */
const last = new Map<string, string>()
let buffer = Buffer.alloc(0)

process.stdin.on("data", (chunk: Buffer) => {
  buffer = Buffer.concat([buffer, chunk])
  for (let end = buffer.indexOf("\r\n\r\n"); end >= 0; end = buffer.indexOf("\r\n\r\n")) {
    const length = Number(/\d+/.exec(buffer.toString("latin1", 0, end))![0])
    if (buffer.length < end + 4 + length) return
    const message = JSON.parse(buffer.toString("utf8", end + 4, end + 4 + length)) as Message
    buffer = buffer.subarray(end + 4 + length)
    if (process.env.ODD_LOG) appendFileSync(process.env.ODD_LOG, `${JSON.stringify(message)}\n`)
    take(message)
  }
})
process.stdin.on("end", () => mode === "stays" || process.exit(0))
if (mode === "stays") {
  setInterval(() => {}, 1_000)
  process.on("SIGTERM", () => {})
}
if (process.env.ODD_PID) writeFileSync(process.env.ODD_PID, String(process.pid))

function take({ id, method, params: given }: Message): void {
  const params = given as Told & { newName: string }
  if (method === "initialize") initialize(id!)
  if (method === "initialized" && mode === "asks") askMuch()
  if (method === "textDocument/didOpen") {
    const { uri, text, version } = params.textDocument
    change(uri, { text, version })
  }
  if (method === "textDocument/didChange") {
    const { uri, version } = params.textDocument
    change(uri, { text: params.contentChanges[0]!.text, version })
  }
  if (method === "textDocument/diagnostic")
    mode === "silent" || send({ id, result: { kind: "full", items: problemsOf(params.textDocument.uri) } })
  if (method === "workspace/diagnostic" && mode === "workspace") {
    const uris = [...documents.keys()].flatMap((uri) => [uri, otherOf(uri)])
    const items = uris.map((uri) => ({ uri, version: null, kind: "full", items: problemsOf(uri) }))
    send({ id, result: { items } })
  }
  if (method === "textDocument/rename") send({ id, result: renamed(params) })
  if (method === "shutdown") send({ id, result: null })
  if (method === "exit" && mode !== "stays") process.exit(0)
}

function initialize(id: number): void {
  if (mode === "dies") {
    process.stderr.write("odd: cannot find its heart\n")
    process.exit(3)
  }
  if (mode === "panics") {
    process.stderr.write(`error: no such part\n\nStack backtrace:\n${"   0: main\n".repeat(40)}`)
    process.exit(1)
  }
  if (mode === "hangs") return
  if (mode === "garbage") return void process.stdout.write(`${"no header here ".repeat(1_000)}`)
  if (mode === "giant-header") return void process.stdout.write(`X: ${"x".repeat(1 << 20)}`)
  if (mode === "giant-message") return void process.stdout.write(`Content-Length: 99999999999\r\n\r\n{}`)
  if (mode === "no-json") return void process.stdout.write(`Content-Length: 5\r\n\r\nhello`)
  const workspaceDiagnostics = mode === "workspace" || mode === "holds"
  const diagnosticProvider = { interFileDependencies: true, workspaceDiagnostics }
  const pulls = mode === "silent" || workspaceDiagnostics ? { diagnosticProvider } : {}
  send({ id, result: { capabilities: { textDocumentSync: 1, renameProvider: true, ...pulls } } })
}

function change(uri: string, document: { text: string; version: number }): void {
  documents.set(uri, document)
  if (mode === "dies-later" && document.text.includes("BAD")) process.exit(1)
  if (mode === "floods" && document.text.includes("BAD")) flood()
  if (mode === "eats" && document.text.includes("BAD")) eat()
  if (mode === "piles" && document.text.includes("BAD")) pile(uri)
  if (mode === "others" && document.text.includes("BREAKS")) {
    const diagnostics = problemsOf(otherOf(uri))
    const params = { uri: otherOf(uri), diagnostics }
    setTimeout(() => send({ method: "textDocument/publishDiagnostics", params }), 1_500)
  }
  const delay = mode === "late" && document.text.includes("BAD") ? 700 : 0
  setTimeout(() => publish(uri, document), delay)
}

/** What is wrong in a document: its own words, and what its neighbour breaks. */
function problemsOf(uri: string) {
  const { text = "" } = documents.get(uri) ?? {}
  const own = [...text.matchAll(/BAD\w*/g)].map(({ index, 0: word }) => {
    const line = text.slice(0, index).split("\n").length - 1
    const character = index - text.lastIndexOf("\n", index - 1) - 1
    return { ...rangeAt(line, character), severity: word === "BADLY" ? 2 : 1, message: `${word} is bad` }
  })
  const isBroken = uri.endsWith("b.odd") && documents.get(otherOf(uri))?.text.includes("BREAKS")
  return isBroken ? [...own, { ...rangeAt(0, 0), severity: 1, message: "broken by a.odd" }] : own
}

function otherOf(uri: string): string {
  return uri.replace(/[ab]\.odd$/, (name) => (name === "a.odd" ? "b.odd" : "a.odd"))
}

function publish(uri: string, { text, version }: { text: string; version: number }): void {
  const diagnostics = problemsOf(uri)
  if (mode === "lies" && text.includes("BAD")) {
    const reversed = { range: { start: { line: 1, character: 9 }, end: { line: 0, character: 1 } } }
    const behindLine = rangeAt(0, 9_999)
    const odd = [
      ...[rangeAt(-5, -7), rangeAt(1e9, 1e9), { range: null }, {}, null, rangeAt(Number.NaN, 0)],
      ...[reversed, behindLine, rangeAt(Number.MAX_SAFE_INTEGER, 0.5)],
    ]
    const told = odd.map((one) => one && { ...one, message: "nowhere\u001b[31m\nin two lines" })
    send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics: told } })
    const outside = { uri: "file:///etc/passwd", diagnostics: [{ ...rangeAt(0, 0), message: "outside" }] }
    send({ method: "textDocument/publishDiagnostics", params: outside })
    for (const broken of [
      null,
      {},
      { uri: 1 },
      { uri: "file:///%00", diagnostics: "x" },
      { uri, version: "x" },
    ])
      if (broken === null || broken.uri !== uri)
        send({ method: "textDocument/publishDiagnostics", params: broken })
    return
  }
  const said = JSON.stringify(diagnostics)
  if (mode === "quiet" && said === (last.get(uri) ?? "[]")) return
  last.set(uri, said)
  send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics } })
}

function rangeAt(line: number, character: number) {
  return { range: { start: { line, character }, end: { line, character } } }
}

function askMuch(): void {
  const methods: [string, unknown][] = [
    ["workspace/configuration", { items: [{ section: "odd.depth" }, { section: "none" }, {}] }],
    ["workspace/applyEdit", { edit: { changes: {} } }],
    ["window/showDocument", { uri: "https://example.com" }],
    ["client/registerCapability", { registrations: [] }],
    ["workspace/workspaceFolders", null],
    ["workspace/diagnostic/refresh", null],
    ["odd/unknown", {}],
  ]
  methods.forEach(([method, params], i) => void send({ id: 1_000 + i, method, params }))
}

/** The edits of a rename: wrong places, another file, or files to remove. */
function renamed({
  textDocument: { uri },
  newName,
}: {
  textDocument: { uri: string }
  newName: string
}): unknown {
  const edit = (line: number, start: number, end: number) => ({
    range: { start: { line, character: start }, end: { line, character: end } },
    newText: newName,
  })
  if (newName === "outside") return { changes: { "file:///etc/hosts": [edit(0, 0, 3)] } }
  if (newName === "removes") return { documentChanges: [{ kind: "delete", uri }] }
  if (newName === "overlaps") return { changes: { [uri]: [edit(0, 0, 3), edit(0, 0, 3)] } }
  return { changes: { [uri]: [edit(0, 1, 4)] } }
}

/** Uses memory until it is ended. */
function eat(): void {
  const kept: Buffer[] = []
  setInterval(() => kept.push(Buffer.alloc(20 << 20, 1)), 20)
}

/** Publishes many files with many long diagnostics, slowly enough for no flood. */
function pile(uri: string): void {
  const message = "x".repeat(300)
  const diagnostics = Array.from({ length: 100 }, () => ({ ...rangeAt(0, 0), message }))
  for (let n = 0; n < 1_500; n++)
    send({ method: "textDocument/publishDiagnostics", params: { uri: `${uri}-${n}.odd`, diagnostics } })
}

function flood(): void {
  const params = { type: 3, message: "x".repeat(1 << 20) }
  for (let n = 0; n < 200; n++) send({ method: "window/logMessage", params })
}

function send(message: Message): void {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message })
  process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  if (mode === "others") appendFileSync("sent", `${text}\n`)
}

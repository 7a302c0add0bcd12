// Diagnostics after an edit in a warm TypeScript project of 500 files, beside a bare client that tells a server of its own the
// same change and asks about the same files: the edited one, and those that import it. Both take turns.
import { spawn } from "node:child_process"
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { diagnose } from "#ability/lsp/lsp.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { median, report } from "./measure.ts"

const rounds = Number(process.env.ROUNDS ?? 60)
const goal = 1.2
const folder = realpathSync(mkdtempSync(join(tmpdir(), "vitamin-bench-")))
for (const name of ["data", "config", "state", "cache"])
  process.env[`XDG_${name.toUpperCase()}_HOME`] = join(folder, name)
const project = join(folder, "project")
const edited = 100
layProject()
await Trust.grant(project)
const bare = startBare()

try {
  await bare.start()
  await Instance.provide({
    directory: project,
    async fn() {
      // No change of a type: nothing breaks.
      await compare("an edit that breaks nothing", (text, i) => text.replace("n > 0", `n > ${i % 7}`))
      // Every second edit breaks the file and its dependents, the next one mends them.
      await compare("edits that break and mend", (text, i) =>
        i % 2 ? text : text.replace("name: string", "name: number"),
      )
    },
  })
} finally {
  bare.end()
  await Instance.disposeAll()
  await Storage.close()
  rmSync(folder, { recursive: true, force: true })
}

async function compare(what: string, change: (text: string, i: number) => string): Promise<void> {
  const path = fileOf(edited)
  const original = readFileSync(path, "utf8")
  const times = { ours: [] as number[], floor: [] as number[], alone: [] as number[] }
  let before = original
  for (let i = 0; i < rounds + 6; i++) {
    const after = change(original, i) === before ? `${before} ` : change(original, i)
    writeFileSync(path, after)
    const runs = [() => timed(times.ours, i, () => ours(path, before, after)), () => bareRun(after, i)]
    // Neither always goes first.
    for (const run of i % 2 ? runs : runs.toReversed()) await run()
    before = after
  }
  writeFileSync(path, original)
  await ours(path, before, original)
  await bareRun(original, -1)
  report(
    `lsp: ${what}, with ${dependents().length} dependents`,
    median(times.ours),
    median(times.floor),
    "ms",
    goal,
  )
  report("lsp: the same, floor of the edited file alone", median(times.ours), median(times.alone), "ms")

  async function bareRun(after: string, i: number): Promise<void> {
    const start = performance.now()
    bare.change(after)
    await bare.pull(edited)
    const alone = performance.now() - start
    await Promise.all(dependents().map(bare.pull))
    if (i < 6) return
    times.alone.push(alone)
    times.floor.push(performance.now() - start)
  }
}

async function ours(path: string, before: string, after: string): Promise<void> {
  const signal = new AbortController().signal
  await diagnose({ path, before, after }, { sessionId: "s", messageId: "m", callId: "c", signal })
}

async function timed(times: number[], i: number, work: () => Promise<void>): Promise<void> {
  const start = performance.now()
  await work()
  // The first rounds warm both up.
  if (i >= 6) times.push(performance.now() - start)
}

function layProject(): void {
  mkdirSync(join(project, "src"), { recursive: true })
  symlinkSync(join(import.meta.dirname, "../node_modules"), join(project, "node_modules"))
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    allowImportingTsExtensions: true,
    types: [],
  }
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }))
  mkdirSync(join(project, ".vitamin"))
  writeFileSync(join(project, ".vitamin/config.jsonc"), '{ "lsp": { "wait": 60000 } }')
  for (let i = 0; i < 500; i++) writeFileSync(fileOf(i), moduleOf(i))
}

function moduleOf(i: number): string {
  const used = importsOf(i)
  const lists = Array.from(
    { length: 60 },
    (_, k) =>
      `export const list${k} = [1, 2, 3].map((n) => make${i}(n)).filter(({ id }) => id > ${k}).map(({ name }) => name.length)`,
  )
  return [
    ...used.map((k) => `import { make${k}, type T${k} } from "./m${k}.ts"`),
    `export type T${i} = { id: number; name: string${used.map((k) => `; t${k}: T${k}`).join("")} }`,
    `export const positive = [1, 2, 3].filter((n) => n > 0)`,
    `export function make${i}(id: number): T${i} {`,
    `  return { id, name: "m${i}"${used.map((k) => `, t${k}: make${k}(id + 1)`).join("")} }`,
    "}",
    ...lists,
    "",
  ].join("\n")
}

function importsOf(i: number): number[] {
  const found = [Math.floor(i / 2), Math.floor(i / 3), Math.floor(i * 0.9)]
  return [...new Set(found)].filter((k) => k < i)
}

function dependents(): number[] {
  return Array.from({ length: 500 }, (_, i) => i).filter((i) => importsOf(i).includes(edited))
}

function fileOf(i: number): string {
  return join(project, "src", `m${i}.ts`)
}

/** A client without anything around it. */
function startBare() {
  const resolve = createRequire(createRequire(import.meta.url).resolve("typescript/package.json")).resolve
  const name = `@typescript/typescript-${process.platform}-${process.arch}/package.json`
  const child = spawn(join(dirname(resolve(name)), "lib/tsc"), ["--lsp", "--stdio"], {
    cwd: project,
    stdio: ["pipe", "pipe", "ignore"],
  })
  const waiting = new Map<number, (value: unknown) => void>()
  let buffer = Buffer.alloc(0)
  let next = 1
  let version = 1
  const send = (message: object) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  const request = (method: string, params: unknown) =>
    new Promise((resolve) => {
      waiting.set(next, resolve)
      send({ id: next++, method, params })
    })
  child.stdout.on("data", (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk])
    for (let end = buffer.indexOf("\r\n\r\n"); end >= 0; end = buffer.indexOf("\r\n\r\n")) {
      const length = Number(/\d+/.exec(buffer.toString("latin1", 0, end))![0])
      if (buffer.length < end + 4 + length) return
      const message = JSON.parse(buffer.toString("utf8", end + 4, end + 4 + length))
      buffer = buffer.subarray(end + 4 + length)
      if (message.method && message.id !== undefined)
        send({ id: message.id, result: message.params?.items?.map(() => null) ?? null })
      else waiting.get(message.id)?.(message.result)
    }
  })
  const uriOf = (i: number) => pathToFileURL(fileOf(i)).href
  return {
    async start() {
      const rootUri = pathToFileURL(project).href
      const capabilities = { workspace: { configuration: true }, textDocument: { diagnostic: {} } }
      await request("initialize", { processId: process.pid, rootUri, capabilities })
      send({ method: "initialized", params: {} })
      for (const i of [edited, ...dependents()]) {
        const textDocument = {
          uri: uriOf(i),
          languageId: "typescript",
          version,
          text: readFileSync(fileOf(i), "utf8"),
        }
        send({ method: "textDocument/didOpen", params: { textDocument } })
      }
    },
    change(text: string) {
      const textDocument = { uri: uriOf(edited), version: ++version }
      send({ method: "textDocument/didChange", params: { textDocument, contentChanges: [{ text }] } })
    },
    pull: (i: number) => request("textDocument/diagnostic", { textDocument: { uri: uriOf(i) } }),
    end: () => void child.kill(),
  }
}

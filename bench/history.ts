// Long sessions. Opening one of 5 000 messages (20 MB) against a loop that reads and parses the same files, interleaved,
// each in a process of its own. Then the own time of a turn in a session of 5 000 messages against one of 50: from the end
// of an answer to the head of the next request, less what that takes who only sends as many bytes.
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { median, report } from "./measure.ts"
import type { Notes, Order } from "./model.ts"
import type { Opened } from "./open-history.ts"

const rounds = Number(process.env.ROUNDS ?? 7)
const many = 5_000
const few = 50
mkdirSync("node_modules/.bench", { recursive: true })
const root = join(process.cwd(), mkdtempSync(join("node_modules/.bench", "history-")))
const folder = join(root, "repo")
mkdirSync(folder)
for (let i = 0; i < 200; i++)
  writeFileSync(join(folder, `f${String(i).padStart(3, "0")}.txt`), `file ${i}\n`.repeat(20))
process.env.VITAMIN_DATA_DIR = join(root, "data")
process.env.HOME = join(root, "home")

const model = fork(join(import.meta.dirname, "model.ts"))
try {
  const [{ port }] = (await once(model, "message")) as [{ port: number }]
  await open(await lay(many, 18_000))
  await turns(port)
} finally {
  model.kill()
  rmSync(root, { recursive: true, force: true })
}

async function open(sessionId: string) {
  const samples: Record<"floor" | "keeps" | "ours", Opened[]> = { floor: [], keeps: [], ours: [] }
  for (let i = 0; i < rounds; i++)
    for (const [mode, all] of Object.entries(samples)) {
      const child = fork(join(import.meta.dirname, "open-history.ts"), [mode, folder, sessionId])
      const [opened] = (await once(child, "message")) as [Opened]
      if (opened.messages !== many) throw new Error(`${mode} found ${opened.messages} messages`)
      all.push(opened)
    }
  const { ours, floor, keeps } = samples
  const of = (all: Opened[], what: keyof Opened) => median(all.map((one) => one[what]))
  const name = `open ${many} messages`
  report(`${name} (floor: read and parse)`, of(ours, "wall"), of(floor, "wall"), "ms", 1.5)
  report(`${name}: processor time`, of(ours, "processor"), of(floor, "processor"), "ms")
  report(`${name} (floor: read, parse and keep)`, of(ours, "wall"), of(keeps, "wall"), "ms")
  report(`${name}: memory (floor: read, parse and keep)`, of(ours, "rss"), of(keeps, "rss"), "MB")
}

async function turns(port: number) {
  const long = await lay(many, 600)
  const all = {
    long: [] as number[],
    short: [] as number[],
    bareLong: [] as number[],
    bareShort: [] as number[],
  }
  for (let i = 0; i < rounds; i++) {
    const short = await prompt(port, await lay(few, 600))
    all.short.push(...short.gaps)
    all.bareShort.push(...(await bare(port, short.bytes[0]!)).gaps)
    const notes = await prompt(port, long)
    all.long.push(...notes.gaps)
    all.bareLong.push(...(await bare(port, notes.bytes[0]!)).gaps)
    if (i === 0) console.log(`requests begin at ${short.bytes[0]} and ${notes.bytes[0]} bytes`)
  }
  const name = `turn after ${many} messages (floor: ${few})`
  report(`bytes of a ${name}`, median(all.bareLong), median(all.bareShort), "ms")
  report(`whole ${name}`, median(all.long), median(all.short), "ms")
  const own = {
    long: median(all.long) - median(all.bareLong),
    short: median(all.short) - median(all.bareShort),
  }
  report(`own time of a ${name}`, own.long, own.short, "ms", 1.3)
}

async function bare(port: number, bytes: number): Promise<Notes> {
  await tell({ turns: 20, deltas: 1, folder })
  const url = `http://127.0.0.1:${port}/v1/chat/completions`
  const child = fork(join(import.meta.dirname, "post-bytes.ts"), [url, String(bytes), "21"])
  await once(child, "exit")
  return (await tell("notes")) as Notes
}

/** Twenty turns that read a file. */
async function prompt(port: number, sessionId: string): Promise<Notes> {
  await tell({ turns: 20, deltas: 1, folder })
  const command = join(import.meta.dirname, "../dist/vitamin.js")
  const child = spawn(process.execPath, [command, "run", "--yes", "--session", sessionId, "go"], {
    cwd: folder,
    env: { ...process.env, ...environment(port) },
    stdio: ["ignore", "ignore", "pipe"],
  })
  let errors = ""
  child.stderr.on("data", (text) => {
    errors += text
  })
  const [code] = await once(child, "exit")
  if (code !== 0) throw new Error(`vitamin run ended with ${code}: ${errors}`)
  return (await tell("notes")) as Notes
}

/** A model with room for all of it: what is left out of a request costs nothing. */
function environment(port: number) {
  const facts = { context: 1_000_000_000, output: 1_000 }
  const names = ["CONFIG", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, ""])
  return {
    ...Object.fromEntries(names),
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_API_KEY: "x",
    VITAMIN_MODEL: "openai/m",
    VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models: { m: facts } } } }),
  }
}

async function tell(message: Order | "notes"): Promise<unknown> {
  model.send(message)
  return (await once(model as ChildProcess, "message"))[0]
}

/** A session of so many messages; every fifth is the result of a tool, with a text of `size` characters. */
function lay(messages: number, size: number): Promise<string> {
  return Instance.provide({
    directory: folder,
    async fn() {
      const { id: sessionId } = await Session.create()
      let parentId: string | null = null
      let writes: Promise<void>[] = []
      for (let i = 0; i < messages; i++) {
        const message = messageAt(i, { sessionId, parentId, size })
        parentId = message.id
        writes.push(MessageStore.write(message))
        if (writes.length < 100 && i < messages - 1) continue
        await Promise.all(writes)
        writes = []
      }
      await Storage.close()
      return sessionId
    },
  })
}

/** A person asks, the model says something, calls a tool, has its result, and answers. */
function messageAt(
  i: number,
  { size, ...place }: { sessionId: string; parentId: string | null; size: number },
): Message.Info {
  const base = { ...place, agent: "build", model: "openai/m" }
  const text = (role: "user" | "assistant", words: string) =>
    Message.make({
      ...base,
      type: "text",
      data: {
        role,
        parts: [{ type: "text", text: words }],
        ...(role === "assistant" ? { finish: "stop" as const } : {}),
      },
    })
  const id = `call_${Math.floor(i / 5)}`
  if (i % 5 === 0) return text("user", `please look at part ${i} `.repeat(15))
  if (i % 5 === 1) return text("assistant", `I shall look at part ${i}.`)
  if (i % 5 === 4) return text("assistant", `It does this and that, in ${i}.\n`.repeat(20))
  if (i % 5 === 2) {
    const call = { id, name: "read", arguments: { path: `src/file-${i}.ts` }, approval: "approved" as const }
    return Message.make({ ...base, type: "tool_request", data: { calls: [call] } })
  }
  const line = `${i}\tconst found = "é" // as it was\n`
  const output = line.repeat(Math.ceil(size / line.length))
  const data = { requestId: id, toolName: "read", status: "success" as const, output }
  return Message.make({ ...base, type: "tool_result", data: { ...data, duration: 3, timestamp: 1 } })
}

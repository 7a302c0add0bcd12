// From a prompt to the model's request, in processes that are warm: `session/prompt` of `vitamin acp` beside the agent in
// this process, which is what `vitamin run` does once it has started, and beside the HTTP of `vitamin serve`; interleaved, in
// the same folder and with the same loopback model.
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable, Writable } from "node:stream"
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk"
import { environmentFor } from "./environment.ts"
import { median, quantile } from "./measure.ts"
import type { Notes, Order } from "./model.ts"

const rounds = Number(process.env.ROUNDS ?? 40)
const warmUp = 10
/** Milliseconds that ACP may add. */
const goal = 5
const command = new URL("../dist/vitamin.js", import.meta.url).pathname
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const folder = join(root, "repo")
mkdirSync(folder)
const model = fork(new URL("./model.ts", import.meta.url).pathname)
const [{ port }] = (await once(model, "message")) as [{ port: number }]
const env = {
  ...environmentFor(root, `http://127.0.0.1:${port}/v1`),
  VITAMIN_CONFIG: "",
}
const children: ChildProcess[] = []

try {
  const ways = { process: await inProcess(), http: await overHttp(), acp: await overAcp() }
  const times: Record<keyof typeof ways, number[]> = { process: [], http: [], acp: [] }
  const names = ["process", "http", "acp"] as const
  for (let i = 0; i < rounds + warmUp; i++)
    for (const name of names) {
      const time = await measure(ways[name])
      if (i >= warmUp) times[name].push(time)
    }
  for (const name of names) {
    const [middle, late] = [median(times[name]), quantile(times[name], 0.95)]
    console.log(`prompt to model's request, ${name}: ${middle.toFixed(2)} ms, p95 ${late.toFixed(2)} ms`)
  }
  const more = median(times.acp) - median(times.process)
  console.log(
    `session/prompt takes ${more.toFixed(2)} ms more  goal ${goal} ms ${more <= goal ? "met" : "MISSED"}`,
  )
  if (more > goal) process.exitCode = 1
} finally {
  for (const child of [...children, model]) child.kill()
  rmSync(root, { recursive: true, force: true })
}

type Prompt = () => Promise<unknown>

async function measure(prompt: Prompt): Promise<number> {
  await tell({ turns: 0, deltas: 1, folder })
  const start = performance.timeOrigin + performance.now()
  await prompt()
  return ((await tell("notes")) as Notes).first - start
}

async function inProcess(): Promise<Prompt> {
  Object.assign(process.env, env)
  const { createAgent } = await import("#engine/host/create-agent.ts")
  const agent = await createAgent({ directory: folder, asks: "deny" })
  await agent.start()
  const { sessionId } = await agent.process({ text: "go" }).answer()
  return () => agent.process({ sessionId, text: "go" }).answer()
}

async function overAcp(): Promise<Prompt> {
  const child = spawn(process.execPath, [command, "acp"], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  })
  children.push(child)
  const input = Readable.toWeb(child.stdout!) as ReadableStream<Uint8Array>
  const { agent } = client({ name: "bench" })
    .onNotification(methods.client.session.update, () => {})
    .connect(ndJsonStream(Writable.toWeb(child.stdin!), input))
  await agent.request(methods.agent.initialize, { protocolVersion: 1 })
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] })
  return () =>
    agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: "go" }] })
}

async function overHttp(): Promise<Prompt> {
  const child = spawn(process.execPath, [command, "serve", "--port", "0"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  })
  children.push(child)
  const [line] = await once(child.stdout!, "data")
  const [, url, file] = /on (http:\S+) \(token in (.+)\)/.exec(String(line))!
  const headers = {
    authorization: `Bearer ${readFileSync(file!, "utf8").trim()}`,
    "content-type": "application/json",
  }
  const post = async (path: string, body: object) => {
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return response.json()
  }
  const { id } = (await post("/session", {})) as { id: string }
  return () => post(`/session/${id}/message`, { parts: [{ type: "text", text: "go" }] })
}

async function tell(message: Order | "notes"): Promise<unknown> {
  model.send(message)
  return (await once(model, "message"))[0]
}

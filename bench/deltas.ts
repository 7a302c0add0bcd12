// An answer of 5 000 deltas: through a session, with its events and records, against the bare stream of the AI SDK's
// model for the same wire form.
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { bootstrap } from "#engine/host/bootstrap.ts"
import * as Session from "#engine/session/session.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { median, report } from "./measure.ts"

const deltas = 5_000
const rounds = 9
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
process.env.VITAMIN_DATA_DIR = join(root, "data")
const model = fork(new URL("./model.ts", import.meta.url).pathname)
const [{ port }] = (await once(model, "message")) as [{ port: number }]
process.env.OPENAI_BASE_URL = `http://127.0.0.1:${port}/v1`
process.env.OPENAI_API_KEY = "x"
process.env.VITAMIN_MODEL = "openai/m"

const times = { bare: [] as number[], session: [] as number[] }
await bootstrap(root, async () => {
  for (let i = 0; i < rounds; i++) {
    times.bare.push(await time(bare))
    times.session.push(await time(session))
  }
})
report("5 000 deltas (floor: the AI SDK's bare stream)", median(times.session), median(times.bare), "ms", 1.5)
model.kill()
await Storage.close()
rmSync(root, { recursive: true, force: true })

async function bare() {
  const language = createOpenAICompatible({
    name: "m",
    baseURL: process.env.OPENAI_BASE_URL!,
    includeUsage: true,
  })("m")
  const { stream } = await language.doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: "go" }] }],
  })
  const reader = stream.getReader()
  while (!(await reader.read()).done);
}

async function session() {
  const { id } = await Session.create()
  await Session.prompt({ sessionId: id, text: "go" })
}

async function time(fn: () => Promise<unknown>): Promise<number> {
  model.send({ turns: 0, deltas, folder: root })
  await once(model, "message")
  const start = performance.now()
  await fn()
  return performance.now() - start
}

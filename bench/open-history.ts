// Opens a session once in a process of its own and says what that took: `ours`, or the `floor`, which reads the same
// files in one loop, parses them and keeps nothing, or `keeps` what it parsed, as who opens a session must.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"

export type Opened = { messages: number; wall: number; processor: number; rss: number }

const [mode = "", directory = "", sessionId = ""] = process.argv.slice(2)
const folder = join(process.env.VITAMIN_DATA_DIR!, "storage", "message", sessionId)
const ways: Record<string, () => Promise<number>> = {
  async floor() {
    const files = readdirSync(folder)
    for (const name of files) JSON.parse(readFileSync(`${folder}/${name}`, "utf8"))
    return files.length
  },
  async keeps() {
    const all: unknown[] = []
    for (const name of readdirSync(folder)) all.push(JSON.parse(readFileSync(`${folder}/${name}`, "utf8")))
    return all.length
  },
  ours: async () => (await Session.messages(sessionId)).length,
}

await Instance.provide({
  directory,
  async fn() {
    // The store is open, as in any process that shows a list of sessions.
    await Session.get(sessionId)
    const before = process.threadCpuUsage()
    const start = performance.now()
    const messages = await ways[mode]!()
    const wall = performance.now() - start
    const { user, system } = process.threadCpuUsage(before)
    process.send!({ messages, wall, processor: (user + system) / 1000, rss: process.memoryUsage.rss() / 1e6 })
  },
})
process.exit()

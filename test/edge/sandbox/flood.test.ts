// A guest that asks for a large record many times in one go: its parent reads few at once, so its memory stays small.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { type TestContext, test } from "node:test"
import { createPeer } from "#edge/sandbox/wire/peer.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { frame } from "./lying-guest.ts"

const skip = process.platform === "linux" ? false : "the peak of a process is read from /proc"
const size = 16 << 20
const requests = 100
/** Megabytes. All answers together are 1,600. */
const most = 1_000

const floods: [what: string, ask: string, more: object][] = [
  ["reads a large record", "record.get", {}],
  ["begins changes of a large record with another one", "record.swap", { before: null, after: "{}" }],
]
for (const [what, ask, more] of floods)
  test(`a guest that ${what} many times at once does not fill the memory of its parent`, {
    skip,
  }, async (t) => {
    await using tmp = await tmpdir({ git: true })
    const { peak, stream, key } = await startParent(t, tmp)
    let received = 0
    stream.on("data", (bytes: Buffer) => {
      received += bytes.length
    })
    flood(stream, ask, { key, ...more })
    stream.resume()
    await until(() => stream.closed || received > 8 * size, "eight answers have come")
    assert.equal(stream.closed, false)
    assert.ok(peak() < most, `the peak is ${peak()} MB`)
  })

function flood(stream: Duplex, ask: string, args: object): void {
  for (let id = 1_000; id < 1_000 + requests; id++) stream.write(frame(JSON.stringify({ id, ask, args })))
}

/** A parent that runs a prompt "in" this process, with a large record in the session. Nothing is read from it any more. */
async function startParent(t: TestContext, tmp: Tmp) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "flooded-parent.ts"), tmp.path], {
    env: tmp.env,
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  })
  t.after(() => child.kill("SIGKILL"))
  let said = ""
  child.stdout!.setEncoding("utf8").on("data", (text) => {
    said += text
  })
  const stream = child.stdio[3] as Duplex
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>()
  const peer = createPeer(stream, {
    ask() {
      isAsked()
      return new Promise(() => {})
    },
    note() {},
  })
  await asked
  await until(() => said.endsWith("\n"))
  const key = ["turn", said.trim(), "a"]
  await peer.ask("record.put", { key, text: JSON.stringify({ a: "a".repeat(size) }) })
  stream.removeAllListeners("data").pause()
  const peak = () =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1_024
  return { stream, key, peak, said: () => said.split("\n").slice(1).join("\n") }
}

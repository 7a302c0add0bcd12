// Long sessions with the built command: what a prompt reads of them, and several processes that use one session in
// turn, or die in it.
import assert from "node:assert/strict"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { pathToFileURL } from "node:url"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { laySession } from "../../../../bench/lay-session.ts"
import { serving, startVitamin, vitamin } from "../../../fixture/cli.ts"
import {
  call,
  env,
  type FakeLlm,
  fakeLlm,
  type Reply,
  type Request,
  text,
} from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const prompts = 600
const preload = pathToFileURL(join(import.meta.dirname, "../../../fixture/note-reads.mjs")).href

type World = {
  tmp: Tmp
  llm: FakeLlm
  variables: Record<string, string>
  /** `vitamin run` in the session. Returns the last request. */
  run(sessionId: string, ...words: string[]): Promise<Request>
  /** The messages of a session that were read since the last time, and how often they were listed. */
  reads(sessionId: string): { read: number; listed: number }
}

async function inWorld(script: (request: Request) => Reply, fn: (world: World) => Promise<void>) {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm(script)
  const file = join(tmp.path, "..", "reads")
  const models = { "fake-model": { context: 16_000, output: 1_000 } }
  const variables = {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models } } }),
    VITAMIN_TEST_READS: file,
    NODE_OPTIONS: `--import ${preload}`,
  }
  writeFileSync(file, "")
  await fn({
    tmp,
    llm,
    variables,
    async run(sessionId, ...words) {
      const { code, err } = await vitamin(tmp, ["run", "--yes", "--session", sessionId, ...words], variables)
      assert.equal(code, 0, err)
      return llm.requests.at(-1)!
    },
    reads(sessionId) {
      const lines = readFileSync(file, "utf8").split("\n")
      writeFileSync(file, "")
      const folder = `/storage/message/${sessionId}`
      return {
        read: lines.filter((line) => line.startsWith("read ") && line.includes(`${folder}/`)).length,
        listed: lines.filter((line) => line.startsWith("list ") && line.endsWith(folder)).length,
      }
    },
  })
}

const saidIn = ({ messages }: Request) => messages.map((message) => message.text).join("\n")

test("vitamin run reads only the messages since the last compaction of a session of 2 400 messages", async () => {
  await inWorld(
    () => text("ok"),
    async ({ tmp, run, reads, llm }) => {
      const sessionId = await laySession(tmp.path, prompts)
      await run(sessionId, "first")
      assert.ok(reads(sessionId).read > prompts * 4, "the first prompt does not know where the session ends")
      // Opening the store reads the records of its journal: writes of another session replace those of this one there.
      await laySession(tmp.path, 250)
      const request = await run(sessionId, "second")
      const { read, listed } = reads(sessionId)
      assert.ok(read < 200, `${read} messages were read`)
      assert.equal(listed, 0)
      assert.match(saidIn(request), /please look at part 599[\s\S]*first[\s\S]*second/)
      assert.equal(llm.requests.filter(({ system }) => /^You summarise/.test(system)).length, 1)
    },
  )
})

test("vitamin serve reads only the new messages of a session that it used last", async () => {
  await inWorld(
    () => text("ok"),
    async ({ tmp, run, reads, variables, llm }) => {
      const sessionId = await laySession(tmp.path, prompts)
      await run(sessionId, "first")
      await using server = await prompting(tmp, variables)
      await server.ask(sessionId, "second")
      reads(sessionId)
      await server.ask(sessionId, "third")
      const { read, listed } = reads(sessionId)
      assert.ok(read < 20, `${read} messages were read`)
      assert.equal(listed, 0)
      assert.match(
        saidIn(llm.requests.at(-1)!),
        /please look at part 599[\s\S]*first[\s\S]*second[\s\S]*third/,
      )
    },
  )
})

test("a server sends cached messages with the changes that it or another process has made since", async () => {
  await inWorld(
    () => text("ok"),
    async ({ tmp, run, variables, llm }) => {
      const { id } = await inFolder(tmp, () => Session.create())
      tmp.write("notes.txt", "the old notes\n")
      await using server = await prompting(tmp, variables)
      await server.ask(id, "look at @notes.txt")
      await server.ask(id, "one")
      assert.match(saidIn(llm.requests.at(-1)!), /the old notes/)
      tmp.write("notes.txt", "the new notes\n")
      await run(id, "--refresh", "two")
      await server.ask(id, "three")
      const said = saidIn(llm.requests.at(-1)!)
      assert.match(said, /the new notes[\s\S]*one[\s\S]*two[\s\S]*three/)
      assert.doesNotMatch(said, /the old notes/)
      tmp.write("notes.txt", "the last notes\n")
      await server.ask(id, "four", { refresh: true })
      await server.ask(id, "five")
      assert.match(saidIn(llm.requests.at(-1)!), /the last notes[\s\S]*three[\s\S]*five/)
    },
  )
})

test("messages that a killed process wrote after a finished prompt are sent with the next prompt", async () => {
  let reached = () => {}
  const waiting = new Promise<void>((resolve) => {
    reached = resolve
  })
  const script = ({ messages }: Request) => {
    const last = messages.at(-1)!
    if (last.text.includes("killed")) return call("ls")
    if (!last.results.length) return text("ok")
    reached()
    return text("word ".repeat(2_000), { deltas: 2_000, delay: 50 })
  }
  await inWorld(script, async ({ tmp, run, variables }) => {
    const { id } = await inFolder(tmp, () => Session.create())
    await run(id, "one")
    await using child = startVitamin(tmp, ["run", "--yes", "--session", id, "killed"], variables)
    await waiting
    child.process.kill("SIGKILL")
    await child.exit
    const request = await run(id, "three")
    assert.match(saidIn(request), /one[\s\S]*killed[\s\S]*three/)
    assert.equal(request.messages.flatMap(({ results }) => results).length, 1)
  })
})

test("a file that was read before a compaction and changed since is not edited, without reading the whole session", async () => {
  const edits = [{ oldText: "first", newText: "second" }]
  const script = ({ messages, system }: Request) => {
    if (/^You summarise/.test(system)) return text("It read a file.")
    const last = messages.at(-1)!
    if (last.results.length) return text("ok")
    if (last.text.includes("please read")) return call("read", { path: "a.txt" })
    return last.text.includes("please edit") ? call("edit", { path: "a.txt", edits }) : text("ok")
  }
  await inWorld(script, async ({ tmp, run, reads, variables }) => {
    const sessionId = await laySession(tmp.path, 300)
    tmp.write("a.txt", "first\n")
    await run(sessionId, "please read it")
    for (let i = 0; i < 4; i++) await run(sessionId, `word ${i} `.repeat(1_000))
    const { code, err } = await vitamin(tmp, ["session", "compact", sessionId], variables)
    assert.equal(code, 0, err)
    await laySession(tmp.path, 250)
    tmp.write("a.txt", "first, by somebody else\n")
    reads(sessionId)
    const request = await run(sessionId, "please edit it")
    const results = request.messages.flatMap((message) => message.results.map((result) => result.text))
    assert.deepEqual(results.length, 1, "what was read is not in the request any more")
    assert.match(results[0]!, /has changed since it was read/)
    const { read, listed } = reads(sessionId)
    assert.ok(read < 200, `${read} messages were read`)
    assert.equal(listed, 0)
  })
})

function inFolder<T>(tmp: Tmp, fn: () => Promise<T>): Promise<T> {
  return Instance.provide({
    directory: tmp.path,
    async fn() {
      const result = await fn()
      await Storage.close()
      return result
    },
  })
}

async function prompting(tmp: Tmp, variables: Record<string, string>) {
  const { child, url, tokenFile } = await serving(tmp, [], variables)
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  }
  return {
    async ask(sessionId: string, words: string, more: { refresh?: boolean } = {}) {
      const body = JSON.stringify({ text: words, asks: "once", ...more })
      const answer = await fetch(`${url}/session/${sessionId}/message`, { method: "POST", headers, body })
      assert.equal(answer.status, 200, await answer.text())
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

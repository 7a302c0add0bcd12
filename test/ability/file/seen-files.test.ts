// Each session remembers which version of a file it has read, by content, also after a restart.
import assert from "node:assert/strict"
import { appendFileSync, readFileSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { Result } from "#ability/tool/run-tool.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { call, free, inProject } from "../tool/harness.ts"

const sessionId = "ses_kept"
const changed = /has changed since it was read; read it again/

/** Stores a result the way a session does. */
async function keep(toolName: string, { status, text, data, duration }: Result) {
  const result = { requestId: "call_1", toolName, status, output: text, duration, timestamp: Date.now() }
  const metadata = data === undefined ? {} : { data: data as Message.JsonObject }
  await MessageStore.write(
    Message.make({ sessionId, parentId: null, type: "tool_result", data: { ...result, metadata } }),
  )
}

const read = async (path: string) => keep("read", await call("read", { path }, { sessionId }))
const write = (path: string, content = "mine\n") =>
  call("write", { path, content }, { slots: free, sessionId })
const edit = (path: string, oldText: string, newText: string) =>
  call("edit", { path, edits: [{ oldText, newText }] }, { slots: free, sessionId })

/** Each function in an Instance of its own, with nothing kept in memory between them. */
async function restarting(...parts: ((tmp: Awaited<ReturnType<typeof tmpdir>>) => Promise<void>)[]) {
  await using tmp = await tmpdir({ git: true })
  for (const part of parts)
    try {
      await Instance.provide({ directory: tmp.path, fn: () => part(tmp) })
    } finally {
      await Instance.disposeAll()
      await Storage.close()
    }
}

test("write and edit refuse, after a restart, a file that changed since it was read", async () => {
  await restarting(
    async (tmp) => {
      for (const name of ["a.txt", "b.txt", "c.txt", "empty.txt"])
        tmp.write(name, name === "empty.txt" ? "" : "one\n")
      for (const name of ["a.txt", "b.txt", "c.txt", "empty.txt"]) await read(name)
    },
    async (tmp) => {
      tmp.write("a.txt", "two\n")
      tmp.write("empty.txt", "no more\n")
      assert.match((await write("a.txt")).text, changed)
      assert.match((await edit("a.txt", "two", "three")).text, changed)
      assert.match((await write("empty.txt")).text, changed)
      assert.equal((await edit("b.txt", "one", "two")).status, "success")
      await read("a.txt")
      assert.equal((await edit("a.txt", "two", "three")).status, "success")
      assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "three\n")
    },
  )
})

test("the last stored version counts, whatever folder and tool it came from", async () => {
  await restarting(
    async (tmp) => {
      tmp.write("sub/a.txt", "one\n")
      await read("sub/a.txt")
      await keep("edit", await edit("sub/a.txt", "one", "two"))
      await keep("write", await write("sub/b.txt", "first\n"))
      await keep("write", await write("sub/b.txt", "second\n"))
    },
    async (tmp) => {
      await Instance.provide({
        directory: join(tmp.path, "sub"),
        fn: async () => {
          assert.equal((await edit("a.txt", "two", "three")).status, "success")
          tmp.write("sub/b.txt", "first\n")
          assert.match((await write("b.txt")).text, changed)
        },
      })
    },
  )
})

test("a failed call and a result without a version say nothing about a file", async () => {
  await restarting(
    async (tmp) => {
      tmp.write("a.txt", "one\n")
      await keep("edit", await edit("a.txt", "missing", "x"))
      await keep("ls", await call("ls", {}, { sessionId }))
    },
    async (tmp) => {
      tmp.write("a.txt", "two\n")
      assert.equal((await write("a.txt")).status, "success")
    },
  )
})

test("a large file is identified by size and times: touching it counts as a change", async () => {
  await inProject(async (tmp) => {
    const large = tmp.write("larger.txt", `${"line\n".repeat(500_000)}start\n`)
    await call("read", { path: large }, { sessionId })
    assert.equal((await edit("larger.txt", "start", "end")).status, "success")
    assert.equal((await edit("larger.txt", "end", "start")).status, "success")
    utimesSync(large, 1, 1)
    assert.match((await edit("larger.txt", "start", "end")).text, changed)
    await call("read", { path: large }, { sessionId })
    appendFileSync(large, "more\n")
    assert.match((await edit("larger.txt", "start", "end")).text, changed)
  })
})

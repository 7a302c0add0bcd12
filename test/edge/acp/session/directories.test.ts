// Additional directories of a session: their files are read and edited under the same rules as those of the workspace.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { call, type FakeLlm, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { choose, connected, type Options, on } from "../harness.ts"

type Tmp = Awaited<ReturnType<typeof tmpdir>>

const resultsOf = (llm: FakeLlm) =>
  llm.requests.at(-1)!.messages.flatMap(({ results }) => results.map(({ text }) => text))

async function withFolder(tmp: Tmp, options: Options) {
  const file = tmp.write("../library/lib.txt", "from the library\n")
  const library = dirname(file)
  const acp = await connected(tmp, options)
  const open = (additionalDirectories?: string[]) =>
    acp.agent.request(on.session.new, {
      cwd: tmp.path,
      mcpServers: [],
      ...(additionalDirectories ? { additionalDirectories } : {}),
    })
  const prompt = (sessionId: string, words: string) =>
    acp.agent.request(on.session.prompt, { sessionId, prompt: [{ type: "text", text: words }] })
  return Object.assign(acp, { file, library, open, prompt })
}

test("files of an additional directory are read without a question, and the model is told of the folder", async () => {
  await using tmp = await tmpdir({ git: true })
  const library = join(dirname(tmp.path), "library")
  const secret = tmp.write("../elsewhere/x.txt", "elsewhere\n")
  await using llm = await fakeLlm([
    call("read", { path: join(library, "lib.txt") }),
    call("grep", { pattern: "from", path: library }),
    call("read", { path: secret }),
    text("Done."),
  ])
  await using acp = await withFolder(tmp, { llm })
  const { sessionId } = await acp.open([library])
  await acp.prompt(sessionId, "read it")
  const [read, found, outside] = resultsOf(llm)
  assert.match(read!, /from the library/)
  assert.match(found!, /lib\.txt/)
  assert.match(outside!, /not run/)
  assert.equal(acp.permissions.length, 1)
  assert.match(llm.requests[0]!.system, /Further folder: .*library/)
})

test("an edit in an additional directory asks, and all edits of a session include it", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("own.txt", "from here\n")
  const path = join(dirname(tmp.path), "library", "lib.txt")
  const edit = (path: string, newText: string) =>
    call("edit", { path, edits: [{ oldText: "from", newText }] })
  await using llm = await fakeLlm([edit(path, "no"), edit("own.txt", "of"), edit(path, "in"), text("Done.")])
  const permit: Options["permit"] = ({ options }) => {
    const { optionId } = options.find((option) => option.optionId === "edits") ?? options.at(-1)!
    return { outcome: { outcome: "selected", optionId } }
  }
  await using acp = await withFolder(tmp, { llm, permit })
  const { sessionId } = await acp.open([acp.library])
  await acp.prompt(sessionId, "edit them")
  assert.equal(readFileSync(path, "utf8"), "in the library\n")
  assert.equal(acp.permissions.length, 2)
})

test("rules for files anywhere also deny in an additional directory, and links out of it are asked for", async () => {
  await using tmp = await tmpdir({ git: true })
  const library = join(dirname(tmp.path), "library")
  tmp.write("../library/key.pem", "a key\n")
  symlinkSync(tmp.write("../elsewhere/x.txt", "elsewhere\n"), join(library, "link.txt"))
  await using llm = await fakeLlm([
    call("read", { path: join(library, "key.pem") }),
    call("read", { path: join(library, "link.txt") }),
    text("Done."),
  ])
  await using acp = await withFolder(tmp, { llm, args: ["--deny", "file.read:**/*.pem"] })
  const { sessionId } = await acp.open([library])
  await acp.prompt(sessionId, "read them")
  for (const result of resultsOf(llm)) assert.match(result, /not run/)
  assert.equal(acp.permissions.length, 1)
})

test("--yes does not allow what decides what runs in an additional directory", async () => {
  await using tmp = await tmpdir({ git: true })
  const path = join(dirname(tmp.path), "library", ".vitamin", "config.jsonc")
  await using llm = await fakeLlm([call("write", { path, content: "{}" }), text("Done.")])
  await using acp = await withFolder(tmp, { llm, args: ["--yes"] })
  const { sessionId } = await acp.open([acp.library])
  await acp.prompt(sessionId, "write it")
  assert.match(resultsOf(llm)[0]!, /not run/)
})

test("a session that is resumed without its additional directories has them no more", async () => {
  await using tmp = await tmpdir({ git: true })
  const path = join(dirname(tmp.path), "library", "lib.txt")
  const read = call("read", { path })
  await using llm = await fakeLlm([read, text("One."), read, text("Two."), read, text("Three.")])
  await using acp = await withFolder(tmp, { llm, permit: choose("reject_once") })
  const { sessionId } = await acp.open([acp.library])
  await acp.prompt(sessionId, "read it")
  await acp.agent.request(on.session.resume, { sessionId, cwd: tmp.path })
  await acp.prompt(sessionId, "read it")
  assert.equal(acp.permissions.length, 1)
  const additionalDirectories = [acp.library]
  await acp.agent.request(on.session.load, {
    sessionId,
    cwd: tmp.path,
    mcpServers: [],
    additionalDirectories,
  })
  await acp.prompt(sessionId, "read it")
  assert.equal(acp.permissions.length, 1)
})

test("an additional directory that is no folder is refused with the reason", async () => {
  await using tmp = await tmpdir({ git: true })
  await using acp = await withFolder(tmp, {})
  const starred = join(tmp.path, "a*b")
  mkdirSync(starred)
  const wrong: [path: string, reason: RegExp][] = [
    ["relative", /not an absolute path/],
    [join(tmp.path, "none"), /not a folder/],
    [acp.file, /not a folder/],
    [starred, /has a star/],
    ["/a\0b", /not an absolute path/],
  ]
  for (const [path, message] of wrong) await assert.rejects(acp.open([path]), { code: -32602, message }, path)
})

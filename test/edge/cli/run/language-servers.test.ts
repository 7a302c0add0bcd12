// `vitamin run` with language servers and formatters: what the model sees after its edits, and what is left of the servers.
import assert from "node:assert/strict"
import { chmodSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { hasProcess } from "#util/process.ts"
import { typeScriptProject } from "../../../ability/lsp/harness.ts"
import { whyNot } from "../../../ability/sandbox/world.ts"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

const program = join(import.meta.dirname, "../../../ability/lsp/odd-server.ts")
const replace = (path: string, oldText: string, newText: string) =>
  call("edit", { path, edits: [{ oldText, newText }] })
const run = ["run", "--trust", "--yes", "go"]
const patient = ["--set", "lsp.wait=60000"]

/** Files ending with .odd have a server of this mode. */
function oddProject(tmp: Tmp, mode: string, wait: number): void {
  const command = [process.execPath, program, mode]
  const odd = { command, extensions: { ".odd": "odd" }, env: { ODD_PID: join(tmp.path, "pid") } }
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ lsp: { wait, servers: { odd } } }))
  tmp.write("a.odd", "fine\n")
}

test("an edit that breaks another file shows the model both diagnostics, and one that mends it none", async () => {
  await using tmp = await tmpdir({ git: true })
  typeScriptProject(tmp)
  await using llm = await fakeLlm([
    replace("src/price.ts", "price: number = 1", "price: string = 1"),
    replace("src/price.ts", "price: string = 1", "price: number = 2"),
    text("Done."),
  ])
  const { code, err } = await vitamin(tmp, [...run, ...patient], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  const [, broken, mended] = llm.requests.map(({ raw }) => raw)
  assert.match(broken!, /src\/price\.ts:1:14 error 2322: Type 'number' is not assignable to type 'string'\./)
  assert.match(broken!, /src\/total\.ts:3:30 error 2362: /)
  assert.equal(mended!.match(/New diagnostics:/g)?.length, 1)
})

test("only agents that name the tools of language servers are offered them", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(
    ".vitamin/agents/reader.md",
    "---\ndescription: reads\ntools: [read, diagnostics, definition, references, rename]\n---\nRead.\n",
  )
  const all = ["definition", "diagnostics", "references", "rename"]
  for (const [agent, expected] of [
    ["build", []],
    ["librarian", []],
    ["operator", []],
    ["reader", all],
  ] as const) {
    await using llm = await fakeLlm([text("Done.")])
    const { code, err } = await vitamin(tmp, [...run, "--agent", agent], env(llm, "chat").variables)
    assert.equal(code, 0, err)
    const body = JSON.parse(llm.requests[0]!.raw) as { tools?: { function: { name: string } }[] }
    const names = (body.tools ?? []).map((tool) => tool.function.name)
    assert.deepEqual(names.filter((name) => all.includes(name)).sort(), expected, agent)
  }
})

test("session revert takes back an edit together with its formatting", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("tools/format.sh", '#!/bin/sh\necho "// formatted" >> "$1"\n')
  chmodSync(join(tmp.path, "tools/format.sh"), 0o755)
  const mine = { command: [join(tmp.path, "tools/format.sh"), "$FILE"], extensions: [".odd"] }
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ formatter: { mine } }))
  tmp.write("a.odd", "fine\n")
  await using llm = await fakeLlm([replace("a.odd", "fine", "good"), text("Done.")])
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, run, variables)).code, 0)
  assert.equal(readFileSync(join(tmp.path, "a.odd"), "utf8"), "good\n// formatted\n")
  assert.match(llm.requests[1]!.raw, /a\.odd edited \(\+2 -1\)\. \[formatted\]/)
  const reverted = await vitamin(tmp, ["session", "revert"], variables)
  assert.equal(reverted.code, 0, reverted.err)
  assert.equal(readFileSync(join(tmp.path, "a.odd"), "utf8"), "fine\n")
})

test("diagnostics that come after the edit join the next turn", async () => {
  await using tmp = await tmpdir({ git: true })
  oddProject(tmp, "late", 50)
  await using llm = await fakeLlm([
    replace("a.odd", "fine", "BAD"),
    call("bash", { command: "sleep 8" }),
    text("Done."),
  ])
  const { code, err } = await vitamin(tmp, run, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(llm.requests[1]!.raw, /the diagnostics of \\"odd\\" are not ready; new ones will follow/)
  assert.doesNotMatch(llm.requests[1]!.raw, /BAD is bad/)
  assert.match(
    llm.requests[2]!.raw,
    /Diagnostics of language servers that came after the edits:.*a\.odd:1:1 error: BAD is bad/,
  )
})

for (const signal of ["SIGKILL", "SIGTERM"] as const)
  test(`no language server is left after ${signal}, even one that ignores its end`, async () => {
    await using tmp = await tmpdir({ git: true })
    oddProject(tmp, "stays", 30_000)
    await using llm = await fakeLlm([replace("a.odd", "fine", "BAD"), call("bash", { command: "sleep 60" })])
    await using child = startVitamin(tmp, run, env(llm, "chat").variables)
    await until(() => llm.requests.length > 1 && existsSync(join(tmp.path, "pid")))
    const pid = Number(readFileSync(join(tmp.path, "pid"), "utf8"))
    assert.ok(hasProcess(pid))
    child.process.kill(signal)
    await child.exit
    await until(() => !hasProcess(pid), "the end of the server")
  })

test("in the sandbox of the whole agent language servers run inside", { skip: whyNot("user") }, async () => {
  await using tmp = await tmpdir({ git: true })
  oddProject(tmp, "plain", 30_000)
  await using llm = await fakeLlm([replace("a.odd", "fine", "BAD"), text("Done.")])
  const { code, err } = await vitamin(tmp, [...run, "--sandbox"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(llm.requests[1]!.raw, /a\.odd:1:1 error: BAD is bad/)
})

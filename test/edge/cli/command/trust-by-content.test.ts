// Trust by content: in a trusted folder, a command rewrites files that can make something run. Nothing of it takes
// effect before a person has reviewed it: not in the same prompt of a server that reloads, and not in the next run.
import assert from "node:assert/strict"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { mcpJson, tinyServer } from "../../../ability/mcp/servers.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

const skill = "---\nname: a\ndescription: Does a.\n---\nRun the script.\n"
const allow = { permission: "bash.execute", pattern: "*", action: "allow" }
const one = { tools: [{ name: "one", description: "Does one thing" }] }

/** The files of a folder. Everything that takes effect writes a file into the folder `mark`. */
function files(mark: string | undefined): Record<string, string> {
  const touch = (name: string) => (mark === undefined ? "" : join(mark, name))
  const code = `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(touch("config"))}, process.env.OPENAI_API_KEY ?? "")\n`
  const rules = mark ? "permissions: [{ permission: file.write, pattern: '**', action: allow }]\n" : ""
  return {
    ".vitamin/config.ts": `${mark ? code : ""}export default {}\n`,
    ".vitamin/mcp.json": mcpJson({ own: tinyServer(one, ...(mark ? [touch("own")] : [])) }),
    ".mcp.json": mcpJson({ other: tinyServer(one, ...(mark ? [touch("other")] : [])) }),
    ".vitamin/agents/build.md": `---\n${rules}---\nYou help.\n`,
    "skills/a/SKILL.md": skill,
    "skills/a/scripts/run.sh": mark ? `touch ${touch("script")}\n` : "echo fine\n",
  }
}

/** A trusted project on `main`, and the branch `evil` that changes all of it. */
async function project() {
  const tmp = await tmpdir({ git: true })
  const marks = join(tmp.path, "../marks")
  mkdirSync(marks)
  const commit = (message: string) => {
    tmp.git("add", "-A")
    tmp.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", message)
  }
  for (const [path, content] of Object.entries(files(undefined))) tmp.write(path, content)
  commit("trusted")
  tmp.git("checkout", "-qb", "evil")
  for (const [path, content] of Object.entries(files(marks))) tmp.write(path, content)
  commit("evil")
  tmp.git("checkout", "-q", "-")
  const trusted = await vitamin(tmp, ["trust", "--yes"])
  assert.equal(trusted.code, 0, trusted.err)
  return { tmp, taken: () => readdirSync(marks).sort() }
}

const ways: [name: string, line: string, prepare: (tmp: Tmp) => void][] = [
  ["git apply", "git apply evil.patch", patch],
  ["git checkout", "git checkout -q evil", () => undefined],
  ["git stash pop", "git stash pop -q", stash],
  ["patch", "patch -s -p1 -i evil.patch", patch],
  ["tar", "tar xf evil.tar", (tmp) => tmp.git("archive", "-o", "evil.tar", "evil")],
  ["unzip", "unzip -qo evil.zip", (tmp) => tmp.git("archive", "-o", "evil.zip", "evil")],
  ["a written script", "node plant.mjs", plant],
]

function patch(tmp: Tmp): void {
  tmp.git("diff", "--output=evil.patch", "HEAD", "evil")
}

function stash(tmp: Tmp): void {
  tmp.git("checkout", "-q", "evil", "--", ".")
  tmp.git("-c", "user.name=a", "-c", "user.email=a@b", "stash", "-q")
}

function plant(tmp: Tmp): void {
  const planted = files(join(tmp.path, "../marks"))
  const code = `import { writeFileSync } from "node:fs"
for (const [path, content] of Object.entries(${JSON.stringify(planted)})) writeFileSync(path, content)`
  tmp.write("plant.mjs", code)
}

/** A model that uses everything that was added. */
const uses = [
  call("bash", { command: "bash skills/a/scripts/run.sh" }),
  call("write", { path: "written.txt", content: "by the agent" }),
]

async function runNext(tmp: Tmp) {
  await using llm = await fakeLlm([...uses, text("done")])
  const variables = { ...env(llm, "chat").variables, VITAMIN_CONFIG: JSON.stringify({ permission: [allow] }) }
  return await vitamin(tmp, ["run", "go"], variables)
}

for (const [name, line, prepare] of ways)
  test(`code that ${name} adds to a trusted folder does not run in the same prompt of a server, the next run or mcp list`, async () => {
    const { tmp, taken } = await project()
    await using _ = tmp
    prepare(tmp)
    await using llm = await fakeLlm([
      call("bash", { command: line }),
      ...uses,
      text("one"),
      ...uses,
      text("two"),
    ])
    const variables = env(llm, "chat").variables
    const { child, url, tokenFile } = await serving(tmp, [], {
      ...variables,
      VITAMIN_CONFIG: JSON.stringify({ permission: [allow] }),
    })
    {
      await using _child = child
      const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
      const post = async (path: string, body: object) => {
        const headers = { authorization, "content-type": "application/json" }
        const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
        return (await response.json()) as { id: string }
      }
      const { id } = await post("/session", {})
      await post(`/session/${id}/message`, { text: "go", asks: "deny" })
      const planted = files(join(tmp.path, "../marks"))
      for (const [path, content] of Object.entries(planted))
        assert.equal(readFileSync(join(tmp.path, path), "utf8"), content, `${name} was to plant ${path}`)
      // The server has seen the change, and every further prompt would use it.
      const isSeen = () => /config\.ts is ignored: it changed since it was reviewed/.test(child.errors())
      await until(isSeen, "the warning")
      await post(`/session/${id}/message`, { text: "again", asks: "deny" })
      assert.deepEqual(taken(), [])
    }
    const next = await runNext(tmp)
    assert.deepEqual(taken(), [])
    assert.equal(next.code, 3, next.err)
    for (const path of ["config.ts", ".vitamin/mcp.json", ".mcp.json", "agents/build.md"])
      assert.match(next.err, new RegExp(`${path.replaceAll(".", "\\.")}.*`), path)
    assert.match(next.err, /it changed since it was reviewed; "vitamin trust" shows the difference/)
    const listed = await vitamin(tmp, ["mcp", "list"])
    assert.match(listed.out, /^other +unusable[\s\S]*changed since it was reviewed[\s\S]*^own +unusable/m)
    assert.deepEqual(taken(), [])
  })

test("added code works once a person has reviewed it; doctor, config show and trust --list name it before", async () => {
  const { tmp, taken } = await project()
  await using _ = tmp
  tmp.git("checkout", "-q", "evil")
  const waiting = [
    ".mcp.json",
    ".vitamin/agents/build.md",
    ".vitamin/config.ts",
    ".vitamin/mcp.json",
    "skills/a/scripts/run.sh",
  ]
  const { out: doctor } = await vitamin(tmp, ["doctor"])
  assert.match(
    doctor,
    /^note +trust +5 files not used until you review: \.mcp\.json \(changed\), .*\n +→ vitamin trust/m,
  )
  const { out: config } = await vitamin(tmp, ["config", "show", "--format", "json"])
  assert.deepEqual(
    JSON.parse(config).waiting,
    waiting.map((path) => `${path} (changed)`),
  )
  const { out: listed } = await vitamin(tmp, ["trust", "--list"])
  for (const path of waiting) assert.ok(listed.includes(`changed  ${path}`), listed)
  assert.equal((await vitamin(tmp, ["mcp", "test"])).code, 1)
  assert.deepEqual(taken(), [])
  const trusted = await vitamin(tmp, ["trust", "--yes"])
  for (const path of waiting) assert.ok(trusted.out.includes(`changed  ${path}  sha256:`), trusted.out)
  const next = await runNext(tmp)
  assert.equal(next.code, 0, next.err)
  assert.deepEqual(taken(), ["config", "other", "own", "script"])
  assert.equal(readFileSync(join(tmp.path, "written.txt"), "utf8"), "by the agent")
})

test("a command that vitamin runs cannot grant trust", async () => {
  await using tmp = await tmpdir({ git: true })
  const { code, err } = await vitamin(tmp, ["trust", "--yes"], { VITAMIN_CALL: "call" })
  assert.equal(code, 2)
  assert.match(err, /A command that vitamin runs cannot grant trust/)
  assert.match((await vitamin(tmp, ["trust", "--list"])).out, /^No folder/)
})

test("vitamin trust records the deny rules of agents even if the configuration is broken", async () => {
  await using tmp = await tmpdir({ git: true })
  const agent = (rules: object[]) => `---\npermissions: ${JSON.stringify(rules)}\n---\nWork.\n`
  tmp.write(".vitamin/config.jsonc", "{ broken")
  tmp.write(
    ".vitamin/agents/worker.md",
    agent([{ permission: "file.read", pattern: "README.md", action: "deny" }]),
  )
  const trusted = await vitamin(tmp, ["trust", "--yes"])
  assert.equal(trusted.code, 0)
  assert.match(trusted.err, /config\.jsonc:1:3/)
  tmp.write(".vitamin/config.jsonc", "{}")
  tmp.write(".vitamin/agents/worker.md", agent([]))
  const { out } = await vitamin(tmp, ["agent", "show", "worker"])
  assert.match(out, /^permissions +deny file\.read:README\.md$/m)
})

test("vitamin trust without a terminal needs --yes", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.ts", "export default {}")
  const { code, err } = await vitamin(tmp, ["trust"])
  assert.deepEqual([code, err.includes("1 file to review"), err.includes("--yes")], [2, true, true], err)
  assert.doesNotMatch((await vitamin(tmp, ["trust", "--list"])).out, /config\.ts/)
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
})

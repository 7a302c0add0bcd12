// Instructions that reach the model through the real command: the person's own, the project's, and what they import.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** Runs a prompt. Returns the first system prompt, stderr, and the last request. */
async function told(tmp: Tmp, args: string[] = [], script = [text("Done.")]) {
  await using llm = await fakeLlm(script)
  const { code, err } = await vitamin(tmp, ["run", ...args, "hello"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  return { system: llm.requests[0]!.system, err, last: llm.requests.at(-1)!.raw }
}

test("the person's own AGENTS.md comes before the project's, with what it imports from anywhere", async () => {
  await using tmp = await tmpdir({ git: true })
  const home = tmp.env.HOME!
  write(join(tmp.env.XDG_CONFIG_HOME!, "vitamin/AGENTS.md"), "Answer in French.\n\nSee @~/team.md.\n")
  write(join(home, "team.md"), "The team ships on Fridays.\n")
  write(join(home, ".claude/CLAUDE.md"), "Never use tabs.\n")
  tmp.write("AGENTS.md", "Run the tests.\n")
  const first = await told(tmp)
  const order = ["Answer in French", "The team ships on Fridays", "Run the tests"]
  const places = order.map((words) => first.system.indexOf(words))
  assert.ok(places[0]! > 0 && places[0]! < places[1]! && places[1]! < places[2]!, String(places))
  assert.match(first.system, /The person's own instructions, from \S*vitamin\/AGENTS\.md:/)
  assert.match(first.system, /From ~\/team\.md, which \S*vitamin\/AGENTS\.md imports:/)
  assert.doesNotMatch(first.system, /Never use tabs/)

  write(
    join(tmp.env.XDG_CONFIG_HOME!, "vitamin/vitamin.jsonc"),
    '{ "rules": { "own": ["~/.claude/CLAUDE.md"] } }',
  )
  assert.match((await told(tmp)).system, /from ~\/\.claude\/CLAUDE\.md:\n\nNever use tabs\./)
})

test("a project's instructions import files of the project, each once; @path in code is ignored", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(
    "AGENTS.md",
    "Read @docs/style.md, then (@docs/tests.md).\n\nPing @alice about @types/node.\n\n```\n@docs/fenced.md\n```\nNot `@docs/inline.md`. <!-- @docs/comment.md -->\n",
  )
  tmp.write("docs/style.md", "Two spaces. @more/deep.md @style.md @../AGENTS.md\n")
  tmp.write("docs/more/deep.md", "Deep words.\n")
  tmp.write("docs/tests.md", "Test first. @more/deep.md\n")
  for (const name of ["fenced", "inline", "comment"]) tmp.write(`docs/${name}.md`, `${name} words`)
  const { system, err } = await told(tmp)
  for (const words of ["Two spaces.", "Deep words.", "Test first."])
    assert.equal(system.split(words).length - 1, 1, words)
  assert.match(system, /From docs\/more\/deep\.md, which docs\/style\.md imports:/)
  assert.doesNotMatch(system, /(fenced|inline|comment) words/)
  assert.doesNotMatch(err, /import/)
})

test("imports of files that are outside the project, missing or denied are skipped and reported", async () => {
  await using tmp = await tmpdir({ git: true })
  write(join(tmp.env.HOME!, "private.md"), "private words\n")
  write(join(tmp.path, "../beside.md"), "private words\n")
  symlinkSync(join(tmp.env.HOME!, "private.md"), join(tmp.path, "link.md"))
  tmp.write("AGENTS.md", "@~/private.md @../beside.md @link.md @gone.md @denied.md @fine.md\n")
  tmp.write("denied.md", "denied words\n")
  tmp.write("fine.md", "fine words\n")
  const { system, err } = await told(tmp, ["--deny", "file.read:denied.md"])
  assert.doesNotMatch(system, /private words|denied words/)
  assert.match(system, /fine words/)
  for (const name of ["~/private.md", "../beside.md", "link.md", "gone.md", "denied.md"])
    assert.match(err, new RegExp(`not read.* \\(path: "?${name.replaceAll(".", "\\.")}"?[,)]`), name)
})

test("a project's instructions import no file that a rule says to ask about", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("AGENTS.md", "Project words. @asked.md @.env @fine.md\n")
  tmp.write("asked.md", "asked words\n")
  tmp.write(".env", "WORD=canary\n")
  tmp.write("fine.md", "fine words\n")
  const rules = ["asked.md", ".env"].map((pattern) => ({ permission: "file.read", pattern, action: "ask" }))
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ permission: rules }))
  const { system, err } = await told(tmp)
  assert.match(system, /Project words[\s\S]*fine words/)
  assert.doesNotMatch(system, /asked words|canary/)
  for (const name of ["asked.md", ".env"])
    assert.match(err, new RegExp(`not read.* \\(path: "?${name.replaceAll(".", "\\.")}"?[,)]`), name)
})

test("a project's instructions import no file with secrets, trusted or not, unless a rule names it", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("AGENTS.md", "@.env @.git/config @keys/prod.pem @notes.md @.env.example @fine.md\n")
  for (const path of [".env", "keys/prod.pem", "keys/other.pem"]) tmp.write(path, "WORD=canary\n")
  execFileSync("git", ["config", "user.signingkey", "canary"], { cwd: tmp.path })
  symlinkSync("keys/other.pem", join(tmp.path, "notes.md"))
  tmp.write(".env.example", "example words\n")
  tmp.write("fine.md", "fine words\n")
  tmp.write("api/AGENTS.md", "Rules of the API. @../.env\n")
  tmp.write("api/main.ts", "export {}\n")
  const work = [call("read", { path: "api/main.ts" }), text("Done.")]
  for (const trusted of [false, true]) {
    if (trusted) assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
    const { system, err, last } = await told(tmp, ["--allow", "file.read:**"], work)
    assert.match(system, /example words[\s\S]*fine words/)
    assert.match(last, /Rules of the API/)
    assert.doesNotMatch(last, /canary/)
    for (const name of [".env", ".git/config", "keys/prod.pem", "notes.md", "../.env"])
      assert.match(
        err,
        new RegExp(`not read \\(path: ${name.replaceAll(".", "\\.")}, .*may hold secrets`),
        name,
      )
  }
  assert.match((await told(tmp, ["--allow", "file.read:.env"])).system, /WORD=canary/)
  assert.doesNotMatch((await vitamin(tmp, ["doctor"])).out, /^ok +instructions .*\.env,/m)
})

test("a file with secrets is never used as a project's instructions", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".env", "WORD=canary\n")
  symlinkSync(".env", join(tmp.path, "AGENTS.md"))
  assert.doesNotMatch((await told(tmp)).system, /canary/)
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ rules: { root: ".env" } }))
  assert.doesNotMatch((await told(tmp)).system, /canary/)
})

test("rules.own applies only in the person's own configuration, not in that of a trusted project", async () => {
  await using tmp = await tmpdir({ git: true })
  const home = tmp.env.HOME!
  write(join(home, "keys.md"), "private words\n")
  write(join(home, "own.md"), "own words\n")
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ rules: { own: ["~/keys.md"], root: "TEAM.md" } }))
  tmp.write("TEAM.md", "team words\n")
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const { system, err } = await told(tmp, ["--set", 'rules.own=["~/own.md"]'])
  assert.match(system, /own words[\s\S]*team words/)
  assert.doesNotMatch(system, /private words/)
  assert.match(err, /rules\.own is ignored: .*config\.jsonc/)
})

test("imports are limited in depth, number and size", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("AGENTS.md", "@a0.md @big.md @huge.md @huge2.md\n")
  for (let i = 0; i < 8; i++) tmp.write(`a${i}.md`, `level ${i} @a${i + 1}.md\n`)
  tmp.write("big.md", `big ${"x".repeat(40_000)} end of big\n`)
  tmp.write("huge.md", `huge ${"y".repeat(30_000)}\n`)
  tmp.write("huge2.md", `second ${"z".repeat(30_000)}\n`)
  const { system, err } = await told(tmp)
  assert.match(system, /level 4/)
  assert.doesNotMatch(system, /level 5|end of big|second zzz/)
  assert.match(system, /\[cut here: big\.md has 40016 bytes\]/)
  assert.match(err, /a5\.md.*5 files deep/)
  assert.match(err, /huge2\.md.*all imports together/)
})

test("the AGENTS.md of a subfolder is sent with its imports", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("api/AGENTS.md", "Rules of the API. @names.md\n")
  tmp.write("api/names.md", "Routes are plural.\n")
  tmp.write("api/main.ts", "export {}\n")
  const { system, last } = await told(tmp, [], [call("read", { path: "api/main.ts" }), text("Done.")])
  assert.doesNotMatch(system, /Routes are plural/)
  assert.match(last, /Rules of the API.*Routes are plural/s)
})

test("vitamin doctor names the instructions that are read", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("AGENTS.md", "@docs/style.md\n")
  tmp.write("docs/style.md", "Two spaces.\n")
  write(join(tmp.env.XDG_CONFIG_HOME!, "vitamin/AGENTS.md"), "Answer in French.\n")
  const { out } = await vitamin(tmp, ["doctor"])
  assert.match(out, /^ok {4}instructions +\S*vitamin\/AGENTS\.md, AGENTS\.md, docs\/style\.md$/m)
})

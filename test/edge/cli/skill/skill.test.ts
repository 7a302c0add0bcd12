// `vitamin skill …` as a process.
import assert from "node:assert/strict"
import { cpSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const fixture = fileURLToPath(new URL("../../../fixture/skills", import.meta.url))
const skill = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo it.\n`

function writeSkills(tmp: Tmp): void {
  cpSync(join(fixture, "release-notes"), join(tmp.path, "skills/release-notes"), { recursive: true })
  tmp.write(".vitamin/skills/playwright.md", skill("playwright"))
  tmp.write("../config/vitamin/skills/mine/SKILL.md", skill("mine"))
  tmp.write(
    ".claude/skills/playwright/SKILL.md",
    skill("playwright", "license: MIT\n").replace("Do it", "Do that"),
  )
  tmp.write(".claude/skills/broken/SKILL.md", "---js\nprocess.exit(3)\n---\n")
}

test("vitamin skill list shows the skills of the project and the person, and names unused files", async () => {
  await using tmp = await tmpdir({ git: true })
  const none = await vitamin(tmp, ["skill", "list"])
  assert.deepEqual([none.code, none.err], [0, ""])
  assert.match(none.out, /No skills/)
  writeSkills(tmp)
  const { code, out, err } = await vitamin(tmp, ["skill", "list"])
  assert.deepEqual([code, err], [0, ""], "what is wrong is said once")
  assert.match(out, /^playwright +project +Does playwright\.$/m)
  assert.match(out, /^release-notes +project +Writes the notes of a release/m)
  assert.match(out, /^mine +own +Does mine\.$/m)
  assert.match(out, /^! .*broken.SKILL\.md: it is not used: front matter of the kind "js"/m)
  assert.match(
    out,
    /^! .*\.claude.skills.playwright.SKILL\.md: the name "playwright" is already used by .*playwright\.md/m,
  )
  const json = JSON.parse((await vitamin(tmp, ["skill", "list", "--format", "json"])).out)
  assert.deepEqual(
    json.skills.map(({ name, isOwn, isTrusted }: Record<string, unknown>) => [name, isOwn, isTrusted]),
    [
      ["playwright", false, false],
      ["release-notes", false, false],
      ["mine", true, true],
    ],
  )
  assert.equal(json.problems.length, 2)
})

test("vitamin skill show prints a skill with its files, and lists all skills for an unknown name", async () => {
  await using tmp = await tmpdir({ git: true })
  writeSkills(tmp)
  const { code, out } = await vitamin(tmp, ["skill", "show", "release-notes"])
  assert.equal(code, 0)
  assert.match(out, /^license +MIT$/m)
  assert.match(out, /^scripts +\S+collect\.mjs$/m)
  assert.match(out, /^references +How to choose .*breaking-changes\.md\)$/m)
  assert.match(out, /^# Release notes$/m)
  const json = JSON.parse((await vitamin(tmp, ["skill", "show", "mine", "--format", "json"])).out)
  assert.deepEqual([json.name, json.body, json.scripts], ["mine", "Do it.", []])
  const missing = await vitamin(tmp, ["skill", "show", "playwrite"])
  assert.equal(missing.code, 1)
  assert.match(missing.err, /Skill "playwrite" does not exist\. Available: .*Did you mean "playwright"/)
})

test("vitamin skill validate checks skills against the specification", async () => {
  await using tmp = await tmpdir({ git: true })
  const good = await vitamin(tmp, ["skill", "validate", fixture])
  assert.deepEqual([good.code, good.out], [0, "14 skills, 0 with faults"])
  writeSkills(tmp)
  const all = await vitamin(tmp, ["skill", "validate"])
  assert.equal(all.code, 1)
  assert.match(all.out, /broken.SKILL\.md:1: front matter of the kind "js"/)
  assert.match(all.out, /^5 skills, 1 with faults$/m)
  const one = tmp.write(
    "Odd/SKILL.md",
    "---\nname: other\ndescription: x\ncolour: red\n---\n[x](references/x.md)\n",
  )
  const bad = await vitamin(tmp, ["skill", "validate", "Odd", "--format", "json"])
  assert.equal(bad.code, 1)
  const [verdict] = JSON.parse(bad.out)
  assert.deepEqual([verdict.file, verdict.isValid, verdict.problems.length], [one, false, 3])
  const file = await vitamin(tmp, ["skill", "validate", "Odd/SKILL.md"])
  assert.match(file.out, /SKILL\.md:6: it links to references\/x\.md, which is not there/)
  const nothing = await vitamin(tmp, ["skill", "validate", "nowhere"])
  assert.deepEqual([nothing.code, /does not exist/.test(nothing.err)], [1, true])
  mkdirSync(join(tmp.path, "empty"))
  assert.match((await vitamin(tmp, ["skill", "validate", "empty"])).err, /has no skill/)
})

test("a hostile folder of skills does not break any command", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("skills/good/SKILL.md", skill("good"))
  tmp.write("skills/control/SKILL.md", '---\nname: control\ndescription: "a \\e[31m b"\n---\nx\n')
  tmp.write("skills/nul/SKILL.md", Buffer.from([0, 1, 2, 3]))
  symlinkSync(".", join(tmp.path, "skills/round"))
  symlinkSync("/etc", join(tmp.path, "skills/etc"))
  const { code, out } = await vitamin(tmp, ["skill", "list"])
  assert.equal(code, 0)
  assert.match(out, /^good /m)
  assert.ok(!out.includes("\u001b"), "nothing moves the cursor")
  tmp.write(
    "skills/forged/SKILL.md",
    '---\nname: forged\ndescription: "a\\nowner         yours"\n---\nx\n\ty\n',
  )
  const shown = await vitamin(tmp, ["skill", "show", "forged"])
  assert.deepEqual(shown.out.match(/^owner .*/gm), ["owner         the project's, which is not trusted"])
})

test("vitamin run sends the matching skill, and runs its script if the folder is trusted", async () => {
  await using tmp = await tmpdir({ git: true })
  writeSkills(tmp)
  const command = "node ./skills/release-notes/scripts/collect.mjs"
  const hasRun = (body: unknown) => JSON.stringify(body).includes('"role":"tool"')
  await using llm = await fakeLlm(({ body }) => (hasRun(body) ? text("Done.") : call("bash", { command })))
  const { variables } = env(llm, "chat")
  const words = ["run", "write the release notes for 2.4.0"]
  const output = () => JSON.stringify(llm.requests.at(-1)!.body).split('"role":"tool"')[1] ?? ""
  const denied = await vitamin(tmp, [...words, "--yes"], variables)
  assert.equal(denied.code, 3, "nobody trusts the folder, and nobody is there to ask")
  assert.ok(JSON.stringify(llm.requests[0]!.body).includes("1. Collect what changed"))
  assert.ok(!output().includes("fixture"))
  const allowed = await vitamin(tmp, [...words, "--yes", "--trust"], variables)
  assert.equal(allowed.code, 0, allowed.err)
  assert.ok(output().includes("fixture"), output().slice(0, 300))
})

test("vitamin skill show and agent show indent the further lines of a value", async () => {
  await using tmp = await tmpdir({ git: true })
  const description = "word ".repeat(40).trim()
  tmp.write(".vitamin/skills/long/SKILL.md", `---\nname: long\ndescription: ${description}\n---\nBody.\n`)
  tmp.write(".vitamin/agents/long.md", `---\ndescription: ${description}\n---\nWork.\n`)
  for (const what of ["skill", "agent"]) {
    await using terminal = openTerminal(tmp, [what, "show", "long"], { before: "stty cols 60" })
    assert.equal(await terminal.exit, 0, terminal.shown())
    assert.match(terminal.shown(), /^description {3}word( word)+\n {14}word( word)+\n {14}word/m)
  }
})

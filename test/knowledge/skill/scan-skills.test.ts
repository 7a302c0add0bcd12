import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { type SkillCache, scanSkills } from "#knowledge/skill/scan-skills.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const fixture = fileURLToPath(new URL("../../fixture/skills", import.meta.url))
const text = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n${more}`

test("scanSkills() finds a skill with all its parts", () => {
  const { skills, unusable } = scanSkills(fixture)
  assert.deepEqual(unusable, [])
  assert.equal(skills.length, 14)
  assert.deepEqual(
    skills.flatMap(({ problems }) => problems),
    [],
    "they keep to the specification",
  )
  const { scripts, references, assets, folder, file } = skills.find(({ name }) => name === "release-notes")!
  assert.equal(file, join(folder, "SKILL.md"))
  assert.deepEqual(scripts, [
    {
      name: "collect",
      file: join(folder, "scripts/collect.mjs"),
      runner: "node",
      description: "Prints the commits between two revisions by kind, as JSON: collect.mjs FROM TO",
    },
  ])
  assert.deepEqual(
    references.map(({ displayText, relativePath }) => [displayText, relativePath]),
    [
      ["How to choose what is worth a line", "references/choosing.md"],
      ["breaking changes and how to move on", "references/breaking-changes.md"],
    ],
  )
  assert.deepEqual(assets, ["assets/section.md.txt"])
})

test("scanSkills() reads folders, single files, and a folder that is a skill itself", async () => {
  await using tmp = await tmpdir()
  tmp.write("s/one/SKILL.md", text("one"))
  tmp.write("s/two.md", text("two"))
  tmp.write("s/three/skill.md", text("three"))
  tmp.write("s/README.md", "# Skills of ours\n")
  tmp.write("s/empty/notes.md", text("no"))
  tmp.write("s/.hidden/SKILL.md", text("hidden"))
  tmp.write("s/image.png", "x")
  const { skills, unusable } = scanSkills(join(tmp.path, "s"))
  assert.deepEqual(
    skills.map(({ name }) => name),
    ["one", "three", "two"],
  )
  assert.deepEqual(unusable, [])
  assert.deepEqual(
    scanSkills(join(tmp.path, "s/one")).skills.map(({ name }) => name),
    ["one"],
  )
  assert.deepEqual(scanSkills(join(tmp.path, "nowhere")), { skills: [], unusable: [] })
})

test("scanSkills() finds the others beside a broken, binary or huge skill", async () => {
  await using tmp = await tmpdir()
  tmp.write("s/a-good/SKILL.md", text("a-good"))
  tmp.write("s/b-code/SKILL.md", "---js\nprocess.exit(1)\n---\n")
  tmp.write("s/c-binary/SKILL.md", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1, 2]))
  tmp.write("s/d-huge/SKILL.md", text("d-huge", "x".repeat(3 << 20)))
  truncateSync(tmp.write("s/d-sparse/SKILL.md", text("d-sparse")), 100 << 20)
  mkdirSync(join(tmp.path, "s/e-pipe"))
  execFileSync("mkfifo", [join(tmp.path, "s/e-pipe/SKILL.md")])
  mkdirSync(join(tmp.path, "s/f-folder/SKILL.md"), { recursive: true })
  tmp.write("s/z-good/SKILL.md", text("z-good"))
  const { skills, unusable } = scanSkills(join(tmp.path, "s"))
  assert.deepEqual(
    skills.map(({ name }) => name),
    ["a-good", "z-good"],
  )
  const reasons = unusable.map(({ problems }) => problems.map(({ message }) => message).join())
  assert.equal(reasons.length, 6)
  for (const [i, reason] of [
    /kind "js"/,
    /not text/,
    /31457\d\d bytes are too many/,
    /not text/,
    /neither a file/,
    /a folder/,
  ].entries())
    assert.match(reasons[i]!, reason)
})

test("scanSkills() refuses links that leave the root, in skills, references and scripts, and those in a circle", async () => {
  await using tmp = await tmpdir()
  const outside = tmp.write("../outside/SKILL.md", text("outside"))
  tmp.write("../outside/scripts/x.sh", "# secret\n")
  tmp.write(
    "s/a/SKILL.md",
    text("a", "[out](out.md) [up](../../../outside/SKILL.md) [gone](gone.md) [in](in.md)"),
  )
  tmp.write("s/a/in.md", "in")
  symlinkSync(outside, join(tmp.path, "s/a/out.md"))
  symlinkSync(join(tmp.path, "../outside/scripts"), join(tmp.path, "s/a/scripts"))
  symlinkSync(join(tmp.path, "../outside"), join(tmp.path, "s/b"))
  symlinkSync("c", join(tmp.path, "s/c"))
  mkdirSync(join(tmp.path, "s/a/assets/deep"), { recursive: true })
  for (let i = 0; i < 40; i++) symlinkSync("..", join(tmp.path, `s/a/assets/deep/round${i}`))
  const { skills, unusable } = scanSkills(join(tmp.path, "s"), { root: tmp.path })
  assert.deepEqual(
    skills.map(({ name }) => name),
    ["a"],
  )
  const [a] = skills
  assert.deepEqual(
    a!.references.map(({ relativePath }) => relativePath),
    ["in.md"],
  )
  assert.deepEqual([a!.scripts, a!.assets], [[], []])
  assert.deepEqual(
    a!.problems.map(({ message }) => message.replace(tmp.path, "ROOT")),
    [
      "it links to out.md, which is outside of ROOT",
      "it links to ../../../outside/SKILL.md, which is outside of ROOT",
      "it links to gone.md, which is not there",
    ],
  )
  assert.match(unusable[0]!.problems[0]!.message, /it is a broken or circular link/)
  assert.match(unusable[1]!.problems[0]!.message, /outside of/)
  const free = scanSkills(join(tmp.path, "s")).skills.map(({ name }) => name)
  assert.deepEqual(free, ["a", "outside"], "a person's own links are followed")
})

test("scanSkills() reads only changed files again", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write("s/a/SKILL.md", text("a"))
  tmp.write("s/b/SKILL.md", text("b"))
  const cache: SkillCache = new Map()
  const scan = () => scanSkills(join(tmp.path, "s"), { cache }).skills
  const [a1, b1] = scan()
  tmp.write("s/a/SKILL.md", text("a", "Changed."))
  utimesSync(file, 1, 1)
  const [a2, b2] = scan()
  assert.notEqual(a2, a1)
  assert.match(a2!.body, /Changed/)
  assert.equal(b2, b1, "the same object")
  tmp.write("s/b/scripts/new.py", '"""Says hello."""\n')
  assert.deepEqual(
    scan()[1]!.scripts.map(({ runner, description }) => [runner, description]),
    [["python3", "Says hello."]],
  )
  rmSync(join(tmp.path, "s/a"), { recursive: true })
  assert.deepEqual(
    scan().map(({ name }) => name),
    ["b"],
  )
})

test("scanSkills() describes scripts by their first comment", async () => {
  await using tmp = await tmpdir()
  tmp.write("s/a/SKILL.md", text("a"))
  tmp.write(
    "s/a/scripts/a.ts",
    "#!/usr/bin/env node\n/**\n * Counts words.\n * In files.\n *\n * @module\n */\n",
  )
  tmp.write("s/a/scripts/b.sh", "#!/bin/sh\n# Cleans up.\n\n# Not this.\n")
  tmp.write("s/a/scripts/c.js", "const x = 1 // no\n")
  tmp.write("s/a/scripts/d.test.js", "// a test\n")
  tmp.write("s/a/scripts/data.json", "{}")
  tmp.write("s/a/scripts/sub/e.rb", "# Deep.\n")
  chmodSync(tmp.write("s/a/scripts/run", "#!/bin/sh\n# Runs alone.\n"), 0o755)
  const { scripts } = scanSkills(join(tmp.path, "s")).skills[0]!
  assert.deepEqual(
    scripts.map(({ name, runner, description }) => [name, runner, description]),
    [
      ["a", "node", "Counts words. In files."],
      ["b", "bash", "Cleans up."],
      ["c", "node", ""],
      ["run", "", "Runs alone."],
      ["e", "ruby", "Deep."],
    ],
  )
})

test("scanSkills() stops at 500 skills", async () => {
  await using tmp = await tmpdir()
  for (let i = 0; i < 505; i++) tmp.write(`s/n${i}.md`, text(`n${i}`))
  const { skills, unusable } = scanSkills(join(tmp.path, "s"))
  assert.equal(skills.length, 500)
  assert.match(unusable[0]!.problems[0]!.message, /more than 500 skills.* n95 and later ones/)
})

test("scanSkills() limits the number of links and bytes, and reports it", async () => {
  await using tmp = await tmpdir()
  const links = Array.from({ length: 3_000 }, (_, i) => `[a](b${i}.md)`).join(" ")
  tmp.write(
    "skills/linked.md",
    `---\nname: linked\ndescription: x\n---\n${links} ${"[c](d.md) ".repeat(3_000)}\n`,
  )
  const [skill] = scanSkills(join(tmp.path, "skills")).skills
  const breaches = skill!.problems.filter(({ level }) => level === "breach")
  assert.equal(breaches.length, 1_001)
  assert.equal(breaches.at(-1)!.message, "only its first 1000 links are followed")
  for (let i = 0; i < 20; i++) tmp.write(`plain/p${i}.md`, "x".repeat(1 << 20))
  const { skills, unusable } = scanSkills(join(tmp.path, "plain"))
  assert.deepEqual([skills.length, unusable.length], [0, 1])
  assert.match(unusable[0]!.problems[0]!.message, /16777216 bytes of them; p\d+ and later ones are left out/)
})

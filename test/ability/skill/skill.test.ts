import assert from "node:assert/strict"
import { mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Skill from "#ability/skill/skill.ts"
import { hasSkills, skillPlaces } from "#ability/skill/skill-places.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const text = (name: string, body = `# ${name}\n`) =>
  `---\nname: ${name}\ndescription: Does ${name}.\n---\n${body}`

async function inProject(
  fn: (tmp: Tmp) => Promise<void>,
  folder = "",
  options = { git: true },
): Promise<void> {
  await using tmp = await tmpdir(options)
  const log = join(tmp.path, "../log")
  Log.setFile(log)
  mkdirSync(join(tmp.path, folder), { recursive: true })
  try {
    await Instance.provide({ directory: join(tmp.path, folder), fn: () => fn(tmp) })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
    Log.setFile(undefined)
  }
}

test("Skill.load() returns the skills of the given folders, the first of equal names", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    ".vitamin/skills/playwright.md",
    "---\nname: playwright\ndescription: Browser automation\n---\nOpen it.\n",
  )
  tmp.write("skills/playwright.md", text("playwright"))
  tmp.write("skills/other/SKILL.md", text("other"))
  const folders = [".vitamin/skills", "skills", "nowhere"].map((name) => join(tmp.path, name))
  const skills = await Skill.load(folders)
  assert.deepEqual(
    skills.map(({ name, description, body }) => [name, description, body]),
    [
      ["playwright", "Browser automation", "Open it."],
      ["other", "Does other.", "# other"],
    ],
  )
})

test("Skill.list() finds skills in every folder, the project's before the person's", () =>
  inProject(async (tmp) => {
    const places = [".vitamin/skills", "skills", ".plaited/skills", ".agents/skills", ".claude/skills"]
    for (const place of places) {
      const name = `in-${place.replaceAll(/\W+/g, "-").replace(/^-/, "")}`
      tmp.write(`${place}/${name}/SKILL.md`, text(name))
      tmp.write(`${place}/shared/SKILL.md`, text("shared", place))
    }
    tmp.write(".vitamin/skills/flat.md", text("flat"))
    tmp.write("skills/flat-too.md", text("flat-too"))
    tmp.write("../config/vitamin/skills/mine/SKILL.md", text("mine"))
    tmp.write("../home/.claude/skills/of-claude/SKILL.md", text("of-claude"))
    tmp.write("../home/.agents/skills/shared/SKILL.md", text("shared", "home"))
    await Trust.grant(tmp.path)
    const { skills, problems } = await Skill.list()
    assert.deepEqual(
      skills.map(({ name, isOwn }) => `${name}${isOwn ? " own" : ""}`).sort(),
      ["flat", "flat-too", "in-agents-skills", "in-claude-skills", "in-plaited-skills", "in-skills"]
        .concat(["in-vitamin-skills", "mine own", "of-claude own", "shared"])
        .sort(),
    )
    assert.equal((await Skill.get("shared")).body, ".vitamin/skills")
    assert.equal(problems.length, 5)
    assert.match(problems[0]!.message, /the name "shared" is already used by .*\.vitamin.skills.shared/)
    const log = () => readFileSync(join(tmp.path, "../log"), "utf8")
    assert.equal(log().match(/is already used by/g)?.length, 5)
    await Skill.list()
    assert.equal(log().match(/is already used by/g)?.length, 5, "said once")
  }))

test("Skill.list() lets no untrusted folder replace a person's own skill", () =>
  inProject(async (tmp) => {
    tmp.write(".vitamin/skills/deploy/SKILL.md", text("deploy", "theirs"))
    tmp.write("../home/.claude/skills/deploy/SKILL.md", text("deploy", "mine"))
    assert.equal((await Skill.get("deploy")).body, "mine")
    assert.match((await Skill.list()).problems[0]!.message, /"deploy" is already used by .*home/)
    await Trust.grant(tmp.path)
    assert.equal((await Skill.get("deploy")).body, "theirs")
  }))

test("Skill.list() prefers a person's own skill to an unreviewed one of a trusted project", () =>
  inProject(async (tmp) => {
    tmp.write("../home/.claude/skills/deploy/SKILL.md", text("deploy", "mine"))
    tmp.write("skills/other/SKILL.md", text("other", "reviewed"))
    await Trust.grant(tmp.path)
    tmp.write("skills/deploy/SKILL.md", text("deploy", "planted"))
    tmp.write("skills/other/SKILL.md", text("other", "changed"))
    assert.equal((await Skill.get("deploy")).body, "mine")
    assert.equal((await Skill.get("other")).isTrusted, false)
    await Trust.grant(tmp.path)
    assert.equal((await Skill.get("deploy")).body, "planted")
    assert.equal((await Skill.get("other")).isTrusted, true)
  }))

test("Skill.list() prefers the nearest of equal names between the working folder and the work tree", () =>
  inProject(async (tmp) => {
    tmp.write("packages/app/.claude/skills/build/SKILL.md", text("build", "near"))
    tmp.write(".vitamin/skills/build/SKILL.md", text("build", "far"))
    tmp.write(".vitamin/skills/only/SKILL.md", text("only"))
    const { skills } = await Skill.list()
    assert.deepEqual(
      skills.map(({ name, body }) => [name, body]),
      [
        ["build", "near"],
        ["only", "# only"],
      ],
    )
  }, "packages/app"))

test("Skill.list() uses the configured folder, and sees changes", () =>
  inProject(async (tmp) => {
    tmp.write(".vitamin/config.jsonc", '{ "skills": { "root": "docs/abilities" } }')
    tmp.write("docs/abilities/one/SKILL.md", text("one"))
    assert.deepEqual(
      (await Skill.list()).skills.map(({ name }) => name),
      ["one"],
    )
    tmp.write("docs/abilities/two.md", text("two"))
    assert.deepEqual(
      (await Skill.list()).skills.map(({ name }) => name),
      ["one", "two"],
    )
  }))

test("Skill.list() reports no copies and no links between folders", () =>
  inProject(async (tmp) => {
    tmp.write(".agents/skills/one/SKILL.md", text("one"))
    mkdirSync(join(tmp.path, ".claude"))
    symlinkSync("../.agents/skills", join(tmp.path, ".claude/skills"))
    tmp.write("../home/.claude/skills/one/SKILL.md", text("one"))
    const { skills, problems } = await Skill.list()
    assert.deepEqual([skills.length, problems], [1, []])
  }))

test("Skill.list() reports unusable and renamed skills, but no unknown keys", () =>
  inProject(async (tmp) => {
    tmp.write(".claude/skills/bad/SKILL.md", "---\nname: bad\n---\n")
    tmp.write(
      ".claude/skills/odd/SKILL.md",
      "---\nname: Odd One\ndescription: x\nmodel: opus\nversion: 2\n---\n# x\n",
    )
    const { skills, problems } = await Skill.list()
    assert.deepEqual(
      skills.map(({ name }) => name),
      ["odd-one"],
    )
    assert.deepEqual(
      problems.map(({ message }) => message.slice(0, 50)),
      [
        "it is not used: a skill needs a description of wha",
        'line 2: name: "Odd One" is not made of lower-case ',
      ],
    )
  }))

test("Skill.list() trusts the project's skills if the work tree is trusted, and the person's own always", () =>
  inProject(async (tmp) => {
    tmp.write("skills/a/SKILL.md", text("a"))
    tmp.write("../config/vitamin/skills/b/SKILL.md", text("b"))
    const trusted = async () => (await Skill.list()).skills.map(({ name, isTrusted }) => [name, isTrusted])
    assert.deepEqual(await trusted(), [
      ["a", false],
      ["b", true],
    ])
    await Trust.grant(tmp.path)
    assert.deepEqual(await trusted(), [
      ["a", true],
      ["b", true],
    ])
  }))

test("Skill.list() follows no link of a project out of its work tree", () =>
  inProject(async (tmp) => {
    tmp.write("../elsewhere/x/SKILL.md", text("x"))
    mkdirSync(join(tmp.path, ".claude"))
    symlinkSync("../../elsewhere", join(tmp.path, ".claude/skills"))
    const { skills, problems } = await Skill.list()
    assert.deepEqual(skills, [])
    assert.match(problems[0]!.message, /outside of/)
  }))

test("Skill.get() throws NotFound with the names that there are", () =>
  inProject(async (tmp) => {
    tmp.write("skills/deploy/SKILL.md", text("deploy"))
    await assert.rejects(Skill.get("deplyo"), {
      name: "Skill.NotFound",
      message: 'Skill "deplyo" does not exist. Available: deploy. Did you mean "deploy"?',
    })
  }))

test("hasSkills() checks a few folders without reading them", () =>
  inProject(async (tmp) => {
    assert.equal(hasSkills(undefined), false)
    assert.ok(skillPlaces(undefined).length <= 8)
    mkdirSync(join(tmp.path, "own/place"), { recursive: true })
    assert.equal(hasSkills("own/place"), true)
    mkdirSync(join(tmp.path, ".agents/skills"), { recursive: true })
    assert.equal(hasSkills(undefined), true)
  }))

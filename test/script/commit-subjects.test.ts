import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { commitsOf, problemOf } from "../../script/commit-subjects.ts"
import { type Tmp, tmpdir } from "../fixture/tmpdir.ts"

const root = join(import.meta.dirname, "../..")
const script = join(root, "script/commit-subjects.ts")

function commit(tmp: Tmp, subject: string): string {
  tmp.git("commit", "-q", "--allow-empty", "-m", subject)
  return tmp.git("rev-parse", "HEAD").trim()
}

function check(folder: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], { encoding: "utf8" })
  return { status, stdout, stderr }
}

test("problemOf() accepts type(scope): summary of at most 72 characters", () => {
  const exact = `fix(bus): ${"x".repeat(62)}`
  for (const subject of ["feat(script): check subjects", "docs(edge/cli): say it", exact])
    assert.equal(problemOf(subject), undefined, subject)
  assert.match(problemOf(`${exact}x`)!, /has 73 characters, at most 72/)
})

for (const subject of [
  "wip",
  "docs: no scope",
  "Fix(bus): case",
  "misc(bus): type",
  "fix(bus): ",
  "fix(bus): dot.",
])
  test(`problemOf() refuses ${JSON.stringify(subject)}`, () =>
    assert.match(problemOf(subject)!, /must be type\(scope\): summary/))

test("commitsOf() leaves out the base and what is older", async () => {
  await using tmp = await tmpdir({ git: true })
  const base = commit(tmp, "older than the rule")
  commit(tmp, "fix(bus): first")
  commit(tmp, "fix(bus): second")
  const { commits, remark } = commitsOf(tmp.path, base)
  assert.deepEqual(
    commits.map(([, subject]) => subject),
    ["fix(bus): second", "fix(bus): first"],
  )
  assert.equal(remark, undefined)
})

test("the script checks the commits of a shallow clone, and names a bad subject", async () => {
  await using tmp = await tmpdir({ git: true })
  const clone = (name: string) => {
    const folder = `${tmp.path}/../${name}`
    tmp.git("clone", "-q", "--depth", "1", `file://${tmp.path}`, folder)
    return check(folder)
  }
  commit(tmp, "a bad subject")
  const bad = clone("bad")
  assert.equal(bad.status, 1)
  assert.match(bad.stderr, /"a bad subject" must be type\(scope\): summary/)
  commit(tmp, "fix(bus): good")
  const good = clone("good")
  assert.equal(good.status, 0, good.stderr)
  assert.match(good.stdout, /a shallow clone: checking the 1 commits/)
})

test("the script says when it checks nothing: without git, and in another history", async () => {
  await using tmp = await tmpdir()
  const none = check(tmp.path)
  assert.deepEqual(
    [none.status, none.stdout],
    [0, "commit subjects: no git history: no subject is checked\n"],
  )
  tmp.git("init", "-q")
  commit(tmp, "initial")
  const other = check(tmp.path)
  assert.equal(other.status, 0)
  assert.match(other.stdout, /is not in this history: no subject is checked/)
})

test("npm run check runs the script", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  assert.match(scripts.check, /node script\/commit-subjects\.ts/)
  assert.match(readFileSync(join(root, ".ci/run"), "utf8"), /npm run check/)
})

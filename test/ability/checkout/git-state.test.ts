// The branches, tags, HEAD and index of a checkout, carried from one repository to another.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { test } from "node:test"
import { applyGitState, packOf, readGitState } from "#ability/checkout/git-state.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

/** Two clones of one repository: work is done in the first, and carried to the second. */
async function twoClones() {
  const tmp = await tmpdir({ git: true })
  const commit = tmp.git("rev-parse", "HEAD").trim()
  const clone = (name: string) => {
    const folder = join(tmp.path, "..", name)
    execFileSync("git", ["clone", "-q", tmp.path, folder])
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
        cwd: folder,
        encoding: "utf8",
      }).trim()
    return { folder, git }
  }
  const [from, to] = [clone("first"), clone("second")]
  return {
    from,
    to,
    async carry() {
      const state = await readGitState(from.folder)
      await applyGitState(to.folder, state, await packOf(from.folder, state, commit))
      for (const words of [
        ["for-each-ref", "refs/heads", "refs/tags"],
        ["rev-parse", "HEAD"],
        ["status", "--porcelain=v2", "--branch"],
      ])
        assert.equal(to.git(...words), from.git(...words), words.join(" "))
    },
    [Symbol.asyncDispose]: () => tmp[Symbol.asyncDispose](),
  }
}

test("applyGitState() replaces a branch by one below its name, and the other way round", async () => {
  await using t = await twoClones()
  t.from.git("checkout", "-qb", "topic")
  t.from.git("commit", "-q", "--allow-empty", "-m", "one")
  await t.carry()
  t.from.git("branch", "-m", "topic", "topic/sub")
  await t.carry()
  assert.equal(t.to.git("symbolic-ref", "HEAD"), "refs/heads/topic/sub")
  t.from.git("branch", "-m", "topic/sub", "topic")
  await t.carry()
})

test("applyGitState() leaves the branch that HEAD names, for a commit or another branch, and removes it", async () => {
  await using t = await twoClones()
  t.from.git("checkout", "-qb", "topic")
  t.from.git("commit", "-q", "--allow-empty", "-m", "one")
  t.from.git("tag", "v1")
  await t.carry()
  t.from.git("checkout", "-q", "--detach")
  t.from.git("branch", "-D", "topic")
  await t.carry()
  t.from.git("checkout", "-qb", "other")
  await t.carry()
  t.from.git("checkout", "-q", "main")
  t.from.git("branch", "-D", "other")
  t.from.git("tag", "-d", "v1")
  await t.carry()
  assert.equal(t.to.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags"), "refs/heads/main")
})

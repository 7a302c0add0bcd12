// Nested repositories that a program in a sandbox leaves behind. Git itself shows that they run nothing afterwards.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { disarmRepositories } from "#ability/sandbox/disarm-repositories.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

function git(folder: string, ...args: string[]): string {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
  return execFileSync("git", [...identity, ...args], { cwd: folder, encoding: "utf8" })
}

/** A repository in a folder of the project, with one commit. */
function nested(tmp: Tmp, name: string): string {
  const folder = join(tmp.path, name)
  mkdirSync(folder, { recursive: true })
  git(folder, "init", "-q")
  writeFileSync(join(folder, "a.txt"), "a\n")
  git(folder, "add", ".")
  git(folder, "commit", "-qm", "first")
  return folder
}

const before = () => Date.now() - 20
const isArmed = (folder: string) => existsSync(join(folder, ".git"))

test("a nested repository that runs something at git status of the outer one is renamed", async () => {
  await using tmp = await tmpdir({ git: true })
  const since = before()
  const folder = nested(tmp, "deep/er/lib")
  const ran = join(tmp.path, "ran.txt")
  git(folder, "config", "core.fsmonitor", `touch ${ran}; false`)
  git(tmp.path, "-c", "core.fsmonitor=false", "add", "deep/er/lib")
  git(tmp.path, "status")
  assert.equal(existsSync(ran), true, "git runs it")
  rmSync(ran)
  const { renamed, isPartial } = await disarmRepositories([tmp.path], since)
  assert.equal(renamed.length, 1)
  assert.match(renamed[0]!, /deep\/er\/lib\/\.git-disarmed_\w+$/)
  assert.equal(isPartial, false)
  git(tmp.path, "status")
  assert.equal(existsSync(ran), false)
})

const arms: Record<string, (folder: string) => void> = {
  "a hook": (folder) => writeFileSync(join(folder, ".git/hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 }),
  "an included configuration": (folder) => git(folder, "config", "include.path", "../x"),
  "a configuration that is a link": (folder) => {
    renameSync(join(folder, ".git/config"), join(folder, "config"))
    symlinkSync("../config", join(folder, ".git/config"))
  },
  "a setting on a continued line": (folder) =>
    appendFileSync(join(folder, ".git/config"), "[user]\n\tname = a\\\n[core]\n"),
  "a program as the transport of a remote": (folder) => git(folder, "remote", "add", "o", "ext::sh -c x"),
  "another common folder": (folder) => writeFileSync(join(folder, ".git/commondir"), "../x\n"),
  "a hook of a submodule": (folder) => {
    mkdirSync(join(folder, ".git/modules/m/hooks"), { recursive: true })
    writeFileSync(join(folder, ".git/modules/m/hooks/post-checkout"), "#!/bin/sh\n")
  },
  "a file that leads to a repository elsewhere": (folder) => {
    renameSync(join(folder, ".git"), join(folder, "data"))
    writeFileSync(join(folder, ".git"), "gitdir: data\n")
  },
}

for (const [what, arm] of Object.entries(arms))
  test(`a nested repository with ${what} is renamed, if that is new`, async () => {
    await using tmp = await tmpdir({ git: true })
    const since = before()
    const folder = nested(tmp, "lib")
    arm(folder)
    // Of the person: everything was there before.
    await disarmRepositories([tmp.path], Date.now() + 10_000)
    assert.equal(isArmed(folder), true)
    await disarmRepositories([tmp.path], since)
    assert.equal(isArmed(folder), false)
  })

test("a clone without programs stays, and so does the outer repository", async () => {
  await using tmp = await tmpdir({ git: true })
  const since = before()
  const folder = nested(tmp, "lib")
  git(tmp.path, "clone", "-q", folder, "copy")
  git(tmp.path, "config", "core.fsmonitor", "true")
  assert.deepEqual(await disarmRepositories([tmp.path], since), { renamed: [], isPartial: false })
  assert.match(git(join(tmp.path, "copy"), "log", "--oneline"), /first/)
})

test("a link to a folder outside is not followed", async () => {
  await using tmp = await tmpdir({ git: true })
  const since = before()
  const folder = nested(tmp, "../outside")
  arms["a hook"]!(folder)
  symlinkSync(folder, join(tmp.path, "link"))
  await disarmRepositories([tmp.path], since)
  assert.equal(isArmed(folder), true)
})

// The project of a folder, with real repositories of every kind, hostile ones too.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import * as Space from "#kernel/space.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Vcs from "#kernel/vcs.ts"
import { type Tmp, tmpdir } from "../fixture/tmpdir.ts"

afterEach(() => Storage.close())

const head = (tmp: Tmp) => tmp.git("rev-parse", "HEAD").trim()

function commit(tmp: Tmp, name: string): string {
  tmp.write(name, name)
  tmp.git("add", "-A")
  tmp.git("commit", "-qm", name)
  return head(tmp)
}

/** Forgets stored ids, as on another machine. */
async function forget() {
  for (const name of await Storage.list(["space"])) await Storage.remove(["space", name])
}

test("Space.detect() returns root commit, name, work tree, branch and commit from any folder of a repository", async () => {
  await using tmp = await tmpdir({ git: true })
  const root = head(tmp)
  const latest = commit(tmp, "src/deep/file")
  const expected = {
    id: root,
    name: "project",
    worktree: tmp.path,
    vcs: { type: "git", branch: "main", commit: latest },
  }
  assert.deepEqual(await Space.detect(tmp.path), expected)
  assert.deepEqual(await Space.detect(join(tmp.path, "src/deep")), expected)
  symlinkSync(join(tmp.path, "src"), join(tmp.path, "..", "link"))
  assert.deepEqual(await Space.detect(join(tmp.path, "..", "link")), expected)
})

test("Space.detect() gives every full clone the same id", async () => {
  await using tmp = await tmpdir({ git: true })
  commit(tmp, "second")
  tmp.git("clone", "-q", tmp.path, "../clone")
  const clone = await Space.detect(join(tmp.path, "../clone"))
  assert.equal(clone.id, (await Space.detect(tmp.path)).id)
  assert.equal(clone.name, "clone")
})

test("Space.detect() takes the smallest of several root commits", async () => {
  await using tmp = await tmpdir({ git: true })
  const roots = [head(tmp)]
  for (const name of ["a", "b", "c", "d"]) {
    tmp.git("checkout", "-q", "--orphan", name)
    roots.push(commit(tmp, name))
    tmp.git("checkout", "-q", "main")
    tmp.git("merge", "-q", "--allow-unrelated-histories", "-m", name, "-X", "theirs", name)
  }
  assert.equal(new Set(roots).size, 5)
  assert.equal((await Space.detect(tmp.path)).id, roots.sort()[0])
})

test("Space.detect() keeps the first id after a first commit or a merged history", async () => {
  await using tmp = await tmpdir()
  tmp.git("init", "-q", "-b", "main")
  const { id, vcs } = await Space.detect(tmp.path)
  assert.match(id, /^[0-9a-f]{40}$/)
  assert.deepEqual(vcs, { type: "git", branch: "main" })
  const first = commit(tmp, "first")
  const after = await Space.detect(tmp.path)
  assert.equal(after.id, id)
  assert.deepEqual(after.vcs, { type: "git", branch: "main", commit: first })
  await Storage.close()
  assert.equal((await Space.detect(tmp.path)).id, id)
  await forget()
  assert.equal((await Space.detect(tmp.path)).id, first)
})

test("Space.detect() keeps the id of a shallow clone after it is deepened", async () => {
  await using tmp = await tmpdir({ git: true })
  const root = head(tmp)
  const latest = commit(tmp, "second")
  const shallow = join(tmp.path, "../shallow")
  tmp.git("clone", "-q", "--depth", "1", `file://${tmp.path}`, shallow)
  assert.equal((await Space.detect(shallow)).id, latest)
  tmp.git("-C", shallow, "fetch", "-q", "--unshallow")
  assert.equal((await Space.detect(shallow)).id, latest)
  await forget()
  assert.equal((await Space.detect(shallow)).id, root)
})

test("Space.detect() gives linked work trees one id, each with its own folder and branch", async () => {
  await using tmp = await tmpdir({ git: true })
  const linked = join(tmp.path, "../linked")
  tmp.git("worktree", "add", "-q", "-b", "feature", linked)
  const space = await Space.detect(join(tmp.path, "../linked"))
  assert.equal(space.id, (await Space.detect(tmp.path)).id)
  assert.equal(space.name, "linked")
  assert.equal(space.worktree, linked)
  assert.deepEqual(space.vcs, { type: "git", branch: "feature", commit: head(tmp) })
})

test("Space.detect() reads a detached head, packed refs and branches with slashes", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.git("checkout", "-q", "-b", "feat/ü/x")
  const commitHash = commit(tmp, "x")
  tmp.git("pack-refs", "--all")
  assert.equal(existsSync(join(tmp.path, ".git/refs/heads/feat")), false)
  const vcs = { type: "git", branch: "feat/ü/x", commit: commitHash }
  assert.deepEqual((await Space.detect(tmp.path)).vcs, vcs)
  tmp.git("checkout", "-q", "--detach")
  assert.deepEqual((await Space.detect(tmp.path)).vcs, { type: "git", commit: commitHash })
})

test("Space.detect() outside git derives the id from the path", async () => {
  await using tmp = await tmpdir()
  const [a, b] = [join(tmp.path, "a"), join(tmp.path, "b")]
  for (const folder of [a, b]) mkdirSync(folder)
  symlinkSync(a, join(tmp.path, "link"))
  const space = await Space.detect(a)
  assert.deepEqual(space, { id: space.id, name: "a", worktree: a })
  assert.match(space.id, /^[0-9a-f]{40}$/)
  assert.deepEqual(await Space.detect(`${a}/../a/`), space)
  assert.deepEqual(await Space.detect(join(tmp.path, "link")), space)
  assert.notEqual((await Space.detect(b)).id, space.id)
})

const garbage: Record<string, (git: string) => void> = {
  "a file": (git) => writeFileSync(git, "garbage \0\xff"),
  "an empty file": (git) => writeFileSync(git, ""),
  "a pointer to nowhere": (git) => writeFileSync(git, "gitdir: /nowhere/at/all\n"),
  "a large file": (git) => writeFileSync(git, `gitdir: ${"x".repeat(100_000)}`),
  "an empty folder": (git) => mkdirSync(git),
  "a link to itself": (git) => symlinkSync(".git", git),
}

for (const [what, make] of Object.entries(garbage))
  test(`Space.detect() ignores a .git that is ${what}`, async () => {
    await using tmp = await tmpdir()
    make(join(tmp.path, ".git"))
    const space = await Space.detect(tmp.path)
    assert.deepEqual(space, { id: space.id, name: "project", worktree: tmp.path })
  })

test("Space.detect() gives an unreadable repository its own id, not that of the outer repository", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("inner/.git/HEAD", "ref: refs/heads/main\n")
  const space = await Space.detect(join(tmp.path, "inner"))
  assert.equal(space.worktree, join(tmp.path, "inner"))
  assert.notEqual(space.id, head(tmp))
  assert.deepEqual(space.vcs, { type: "git", branch: "main" })
})

test("Vcs.read() neither hangs on a pipe in place of HEAD nor leaves the git folder", async () => {
  await using tmp = await tmpdir({ git: true })
  const repository = Vcs.find(tmp.path)
  assert.ok(repository)
  tmp.write("secret", "a".repeat(40))
  writeFileSync(join(tmp.path, ".git/HEAD"), "ref: refs/../../secret\n")
  assert.equal((await Vcs.read(repository)).commit, undefined)
  rmSync(join(tmp.path, ".git/HEAD"))
  execFileSync("mkfifo", [join(tmp.path, ".git/HEAD")])
  assert.deepEqual(await Vcs.read(repository), { type: "git" })
})

test("Space.detect() runs nothing that a repository names in its configuration", async () => {
  await using tmp = await tmpdir({ git: true })
  const first = head(tmp)
  commit(tmp, "second")
  const marker = join(tmp.path, "../marker")
  const evil = tmp.write("evil.sh", `#!/bin/sh\necho "$0 $*" >> "${marker}"\n`)
  chmodSync(evil, 0o755)
  const settings: Record<string, string> = {
    "core.fsmonitor": evil,
    "core.hooksPath": join(tmp.path, "hooks"),
    "core.pager": evil,
    "core.sshCommand": evil,
    "core.editor": evil,
    "core.alternateRefsCommand": evil,
    "diff.external": evil,
    "alias.rev-list": `!${evil}`,
    "alias.symbolic-ref": `!${evil}`,
    "pager.rev-list": evil,
    "filter.evil.clean": evil,
    "gpg.program": evil,
    "log.showSignature": "true",
    "credential.helper": `!${evil}`,
    "core.repositoryFormatVersion": "1",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "remote.origin.url": `ext::${evil}`,
    "remote.origin.uploadpack": evil,
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
  }
  for (const name of ["post-checkout", "reference-transaction", "post-index-change"]) {
    tmp.write(`hooks/${name}`, `#!/bin/sh\ntouch "${marker}"\n`)
    chmodSync(join(tmp.path, "hooks", name), 0o755)
  }
  for (const [name, value] of Object.entries(settings)) tmp.git("config", name, value)
  rmSync(join(tmp.path, ".git/objects", first.slice(0, 2), first.slice(2)))
  rmSync(marker, { force: true })
  const { id } = await Space.detect(tmp.path)
  assert.match(id, /^[0-9a-f]{40}$/)
  await assert.rejects(Vcs.git(tmp.path, ["rev-list", "HEAD"]))
  assert.equal(existsSync(marker), false)
  assert.throws(() => execFileSync("git", ["rev-list", "HEAD"], { cwd: tmp.path, stdio: "pipe" }))
  assert.equal(existsSync(marker), true, "git alone would have run it")
})

test("Vcs.git() passes no GIT_ variables of the caller, and never uses another repository", async () => {
  await using tmp = await tmpdir({ git: true })
  process.env.GIT_DIR = "/nowhere"
  try {
    assert.equal((await Vcs.git(tmp.path, ["rev-parse", "--show-toplevel"])).trim(), tmp.path)
  } finally {
    delete process.env.GIT_DIR
  }
})

test("Space.detect() keeps the id of a folder that becomes a repository", async () => {
  await using tmp = await tmpdir()
  const before = await Space.detect(tmp.path)
  tmp.git("init", "-q", "-b", "main")
  assert.equal((await Space.detect(tmp.path)).id, before.id)
  tmp.write("a", "a")
  tmp.git("add", "-A")
  tmp.git("commit", "-qm", "first")
  assert.equal((await Space.detect(tmp.path)).id, before.id)
  await Storage.close()
})

test("Space.detect() does not store an id if git fails", async () => {
  await using tmp = await tmpdir({ git: true })
  const path = process.env.PATH
  process.env.PATH = join(tmp.path, "nothing-here")
  const { id } = await Space.detect(tmp.path)
  process.env.PATH = path
  const root = tmp.git("rev-list", "--max-parents=0", "HEAD").trim()
  assert.notEqual(id, root)
  assert.equal((await Space.detect(tmp.path)).id, root)
  await Storage.close()
})

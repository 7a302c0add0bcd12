// Git commands that only read run without a question. The folders here are prepared so that git would read another
// repository: nothing from outside of the workspace may reach the model.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim()

function commit(tmp: Tmp, path: string, content: string, subject = "one more"): void {
  tmp.write(path, content)
  git(tmp.path, "add", "-A")
  git(tmp.path, "-c", "user.name=p", "-c", "user.email=p@example.org", "commit", "-qm", subject)
}

/** Runs commands of the model; nobody can be asked for permission. `result`: what the model got back. */
async function bash(tmp: Tmp, commands: string[], { args = [] as string[], variables = {} } = {}) {
  await using llm = await fakeLlm([...commands.map((command) => call("bash", { command })), text("done")])
  const { code, err } = await vitamin(tmp, ["run", ...args, "go"], {
    ...env(llm, "chat").variables,
    ...variables,
  })
  return { code, err, result: JSON.stringify(llm.requests.at(-1)?.body) }
}

type Trap = { commands: string[]; args?: string[]; set(workspace: string, other: string): void }
const replaceGit = (workspace: string) => rmSync(join(workspace, ".git"), { recursive: true })
const linkTo = (workspace: string, other: string, name: string) => {
  rmSync(join(workspace, ".git", name), { recursive: true, force: true })
  symlinkSync(join(other, ".git", name), join(workspace, ".git", name))
}
const nest = (workspace: string, gitFile: string) => {
  mkdirSync(join(workspace, "inside"))
  writeFileSync(join(workspace, "inside/.git"), gitFile)
}
const namingSubmodule: Trap = {
  commands: ["git diff", "git diff HEAD", "git status -v -v"],
  set(workspace, other) {
    nest(workspace, `gitdir: ${other}/.git\n`)
    git(workspace, "config", "diff.submodule", "diff")
    git(workspace, "add", "-N", "inside")
  },
}
const traps: Record<string, Trap> = {
  "whose .git names another repository": {
    commands: ["git show HEAD:private.txt"],
    set(workspace, other) {
      replaceGit(workspace)
      writeFileSync(join(workspace, ".git"), `gitdir: ${other}/.git\n`)
    },
  },
  "whose .git is a link to another repository": {
    commands: ["git show HEAD:private.txt"],
    set(workspace, other) {
      replaceGit(workspace)
      symlinkSync(join(other, ".git"), join(workspace, ".git"))
    },
  },
  "whose .git names another repository in commondir": {
    commands: ["git show HEAD:private.txt"],
    set: (workspace, other) => writeFileSync(join(workspace, ".git/commondir"), `${other}/.git\n`),
  },
  "whose .git is a work tree that another repository does not list": {
    commands: ["git show HEAD:private.txt"],
    set(workspace, other) {
      replaceGit(workspace)
      mkdirSync(join(workspace, "fake"))
      writeFileSync(join(workspace, ".git"), "gitdir: fake\n")
      writeFileSync(join(workspace, "fake/HEAD"), git(other, "rev-parse", "HEAD"))
      writeFileSync(join(workspace, "fake/commondir"), `${other}/.git\n`)
      writeFileSync(join(workspace, "fake/gitdir"), join(workspace, ".git"))
    },
  },
  "whose .git is a submodule that no other repository has": {
    commands: ["git show HEAD:private.txt"],
    set(workspace, other) {
      writeFileSync(join(workspace, ".git/commondir"), `${other}/.git\n`)
      git(workspace, "config", "--file", ".git/config.worktree", "core.worktree", "..")
      git(workspace, "config", "--file", ".git/config", "core.worktree", "..")
    },
  },
  "with a link to another repository": {
    commands: ["cd link && git show HEAD:private.txt"],
    args: ["--allow", "bash.execute:cd *"],
    set: (workspace, other) => symlinkSync(other, join(workspace, "link")),
  },
  "with a repository inside that names another one": {
    commands: ["cd inside && git show HEAD:private.txt"],
    args: ["--allow", "bash.execute:cd *"],
    set: (workspace, other) => nest(workspace, `gitdir: ${other}/.git\n`),
  },
  "whose .git has links to the objects and refs of another repository": {
    commands: ["git show HEAD:private.txt"],
    set(workspace, other) {
      for (const name of ["objects", "refs"]) linkTo(workspace, other, name)
    },
  },
  "whose .git has links deeper inside": {
    commands: ["git show HEAD:private.txt"],
    set(workspace, other) {
      for (const name of readdirSync(join(other, ".git/objects")))
        linkTo(workspace, other, join("objects", name))
      writeFileSync(join(workspace, ".git/HEAD"), git(other, "rev-parse", "HEAD"))
    },
  },
  "whose .git borrows the objects of another repository": {
    commands: ["git show HEAD:private.txt"],
    set(workspace, other) {
      writeFileSync(join(workspace, ".git/objects/info/alternates"), `${other}/.git/objects\n`)
      writeFileSync(join(workspace, ".git/HEAD"), git(other, "rev-parse", "HEAD"))
    },
  },
  "whose .git has a rebase with a link": {
    commands: ["git status"],
    set(workspace, other) {
      mkdirSync(join(workspace, ".git/rebase-merge"))
      for (const name of ["interactive", "git-rebase-todo"])
        writeFileSync(join(workspace, ".git/rebase-merge", name), "")
      symlinkSync(join(other, "private.txt"), join(workspace, ".git/rebase-merge/done"))
    },
  },
  "whose configuration includes that of another repository": {
    commands: ["git remote -v"],
    set(workspace, other) {
      git(other, "remote", "add", "origin", "https://example.org/what is private")
      git(workspace, "config", "include.path", `${other}/.git/config`)
    },
  },
  "whose configuration names a file for blame": {
    commands: ["git blame a.txt"],
    set: (workspace, other) => git(workspace, "config", "blame.ignoreRevsFile", `${other}/private.txt`),
  },
  "with a submodule that names another repository": namingSubmodule,
  "that is trusted, with a submodule that names another repository": {
    ...namingSubmodule,
    args: ["--trust"],
  },
  "with a summary of a submodule that names another repository": {
    commands: ["git status"],
    set(workspace, other) {
      nest(workspace, `gitdir: ${other}/.git\n`)
      git(workspace, "config", "status.submoduleSummary", "true")
      git(workspace, "add", "inside")
    },
  },
  "whose .git names another repository in commondir, by a path that ends with a blank": {
    commands: ["git show HEAD:private.txt"],
    set(workspace, other) {
      mkdirSync(join(workspace, "shared"))
      symlinkSync(join(other, ".git"), join(workspace, "shared "))
      writeFileSync(join(workspace, ".git/commondir"), "../shared \n")
    },
  },
  "whose .git names another repository in commondir, by a path that ends with a NUL byte": {
    commands: ["git show HEAD:private.txt"],
    set: (workspace, other) => writeFileSync(join(workspace, ".git/commondir"), `${other}/.git\0`),
  },
  "whose .git names another repository in commondir, by a path that is not UTF-8": {
    commands: ["git show HEAD:private.txt"],
    set(workspace, other) {
      const name = Buffer.from("../shared\xff", "latin1")
      mkdirSync(join(workspace, "shared\ufffd"))
      symlinkSync(join(other, ".git"), Buffer.concat([Buffer.from(`${workspace}/.git/`), name]))
      writeFileSync(join(workspace, ".git/commondir"), name)
    },
  },
  "with a link into a repository inside that names another one": {
    commands: ["cd link && git show HEAD:private.txt"],
    args: ["--allow", "bash.execute:cd *"],
    set(workspace, other) {
      nest(workspace, `gitdir: ${other}/.git\n`)
      mkdirSync(join(workspace, "inside/deep"))
      symlinkSync("inside/deep", join(workspace, "link"))
    },
  },
  "with a repository inside that names another one by a path that ends with a NUL byte": {
    commands: ["cd inside && git show HEAD:private.txt"],
    args: ["--allow", "bash.execute:cd *"],
    set: (workspace, other) => nest(workspace, `gitdir: ${other}/.git\0`),
  },
  "with a repository inside whose HEAD is a link to a packed branch": {
    commands: ["cd inside && git show HEAD:private.txt"],
    args: ["--allow", "bash.execute:cd *"],
    set(workspace, other) {
      git(other, "pack-refs", "--all")
      mkdirSync(join(workspace, "inside/.git"), { recursive: true })
      symlinkSync(git(other, "symbolic-ref", "HEAD"), join(workspace, "inside/.git/HEAD"))
      for (const name of ["objects", "refs", "packed-refs"])
        symlinkSync(join(other, ".git", name), join(workspace, "inside/.git", name))
    },
  },
  "whose work tree is a link": {
    commands: ["git diff"],
    set(workspace, other) {
      symlinkSync(other, join(workspace, "link"))
      const blob = git(workspace, "rev-parse", "HEAD:a.txt")
      git(workspace, "update-index", "--add", "--cacheinfo", `100644,${blob},private.txt`)
      git(workspace, "config", "core.worktree", "../link")
    },
  },
  "that git takes for no repository": {
    commands: ["git diff link/private.txt a.txt", "git diff link private.txt"],
    set(workspace, other) {
      rmSync(join(workspace, ".git/objects"), { recursive: true })
      writeFileSync(join(workspace, "private.txt"), "x\n")
      symlinkSync(other, join(workspace, "link"))
    },
  },
  "where git is off": {
    commands: ["git diff link/private.txt a.txt"],
    set(workspace, other) {
      appendFileSync(join(workspace, ".git/config"), "[gc]\n recentObjectsHook = x\n")
      symlinkSync(other, join(workspace, "link"))
    },
  },
}

for (const [name, { commands, args = [], set }] of Object.entries(traps))
  test(`git shows nothing from outside of a workspace ${name}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using other = await tmpdir({ git: true })
    commit(tmp, "a.txt", "one\n")
    commit(other, "private.txt", "what is private\n", "what is private")
    set(tmp.path, other.path)
    const { err, result } = await bash(tmp, commands, { args })
    assert.doesNotMatch(result, /what is private/, err)
  })

const broken: Record<string, (gitDir: string) => void> = {
  "has no objects": (gitDir) => rmSync(join(gitDir, "objects"), { recursive: true }),
  "has a HEAD that names no branch": (gitDir) => writeFileSync(join(gitDir, "HEAD"), "ref: main\n"),
  "has a HEAD that is a link": (gitDir) => {
    renameSync(join(gitDir, "HEAD"), join(gitDir, "ORIG"))
    symlinkSync("ORIG", join(gitDir, "HEAD"))
  },
}
for (const [name, change] of Object.entries(broken))
  test(`git shows nothing of the repository around a workspace whose .git ${name}`, async () => {
    await using around = await tmpdir({ git: true })
    commit(around, "private.txt", "what is private\n")
    const inside = { ...around, path: join(around.path, "inside") }
    git(around.path, "init", "-q", "inside")
    change(join(inside.path, ".git"))
    assert.match(git(inside.path, "show", "HEAD:private.txt"), /what is private/)
    const { code, err, result } = await bash(inside, ["git show HEAD:private.txt"])
    assert.equal(code, 3, err)
    assert.doesNotMatch(result, /what is private/)
  })

test("git reads a linked work tree and a submodule without asking", async () => {
  await using main = await tmpdir({ git: true })
  await using tmp = await tmpdir()
  commit(main, "a.txt", "line-one\n")
  rmSync(tmp.path, { recursive: true })
  git(main.path, "worktree", "add", "-q", tmp.path)
  const linked = await bash(tmp, ["git show HEAD:a.txt"])
  assert.equal(linked.code, 0, linked.err)
  assert.match(linked.result, /line-one/)
  await using whole = await tmpdir({ git: true })
  git(whole.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main.path, "sub")
  const args = ["--allow", "bash.execute:cd *"]
  const inside = await bash(whole, ["cd sub && git show HEAD:a.txt"], { args })
  assert.equal(inside.code, 0, inside.err)
  assert.match(inside.result, /line-one/)
})

test("git reads in a workspace that is a submodule", async () => {
  await using main = await tmpdir({ git: true })
  await using whole = await tmpdir({ git: true })
  commit(main, "a.txt", "line-one\n")
  commit(whole, "around.txt", "of-the-whole\n")
  git(whole.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main.path, "libs/sub")
  const sub = { ...whole, path: join(whole.path, "libs/sub") }
  for (const args of [[], ["--mode", "plan"]]) {
    const { code, err, result } = await bash(sub, ["git show HEAD:a.txt", "git log --oneline"], { args })
    assert.equal(code, 0, err)
    assert.match(result, /line-one/)
  }
  const { result } = await bash(sub, ["git show HEAD:around.txt"])
  assert.doesNotMatch(result, /of-the-whole/)
  // The .git file of a submodule names a folder in the .git of the outer repository. A prepared one names that .git itself.
  writeFileSync(join(sub.path, ".git"), "gitdir: ../../.git\n")
  const around = await bash(sub, ["git show HEAD:around.txt"])
  assert.doesNotMatch(around.result, /of-the-whole/, around.err)
})

test("git asks in a submodule whose repository, outside of the workspace, links to the objects of another one", async () => {
  await using main = await tmpdir({ git: true })
  await using whole = await tmpdir({ git: true })
  await using other = await tmpdir({ git: true })
  commit(main, "a.txt", "line-one\n")
  commit(other, "private.txt", "what is private\n")
  git(whole.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main.path, "sub")
  const sub = { ...whole, path: join(whole.path, "sub") }
  const gitDir = join(whole.path, ".git/modules/sub")
  rmSync(join(gitDir, "objects"), { recursive: true })
  symlinkSync(join(other.path, ".git/objects"), join(gitDir, "objects"))
  writeFileSync(join(gitDir, "HEAD"), git(other.path, "rev-parse", "HEAD"))
  assert.match(git(sub.path, "show", "HEAD:private.txt"), /what is private/)
  for (const args of [[], ["--mode", "plan"]]) {
    const { code, err, result } = await bash(sub, ["git show HEAD:private.txt"], { args })
    assert.equal(code, 3, err)
    assert.doesNotMatch(result, /what is private/)
  }
})

test("git asks in a clone that borrows objects, and runs if it is allowed", async () => {
  await using main = await tmpdir({ git: true })
  commit(main, "a.txt", "line-one\n")
  for (const option of [["--shared"], ["--reference", main.path]]) {
    await using tmp = await tmpdir()
    git(tmp.path, "clone", "-q", ...option, main.path, ".")
    const asked = await bash(tmp, ["git show HEAD:a.txt"])
    assert.equal(asked.code, 3, option[0])
    assert.doesNotMatch(asked.result, /line-one/)
    const allowed = await bash(tmp, ["git show HEAD:a.txt"], { args: ["--yes"] })
    assert.equal(allowed.code, 0, allowed.err)
    assert.match(allowed.result, /line-one/)
  }
})

test("git reads without asking if links in .git stay inside or are hooks", async () => {
  await using tmp = await tmpdir({ git: true })
  commit(tmp, "pre-commit", "line-one\n")
  symlinkSync("../../pre-commit", join(tmp.path, ".git/hooks/pre-commit"))
  symlinkSync("main", join(tmp.path, ".git/refs/heads/same"))
  git(tmp.path, "config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
  const { code, err, result } = await bash(tmp, ["git show HEAD:pre-commit"])
  assert.equal(code, 0, err)
  assert.match(result, /line-one/)
})

test("git asks if our own keys and tokens are in the workspace", async () => {
  await using tmp = await tmpdir({ git: true })
  commit(tmp, "state/vitamin/token", "an-older-token\n")
  const variables = { XDG_STATE_HOME: join(tmp.path, "state") }
  const { code, err, result } = await bash(tmp, ["git log -p"], { variables })
  assert.equal(code, 3, err)
  assert.doesNotMatch(result, /an-older-token/)
})

test("plan mode allows git commands that only read, and overrides no deny rule", async () => {
  await using tmp = await tmpdir({ git: true })
  commit(tmp, "a.txt", "line-one\n")
  const plan = ["--mode", "plan"]
  const reading = await bash(tmp, ["git status", "git show HEAD:a.txt"], { args: plan })
  assert.equal(reading.code, 0, reading.err)
  assert.match(reading.result, /nothing to commit/)
  assert.match(reading.result, /line-one/)
  for (const command of [
    "git show HEAD:a.txt > b.txt",
    "git commit --allow-empty -m two",
    "git show HEAD:a.txt && touch b.txt",
    "git diff --output=b.txt",
    "git -c core.pager=cat show HEAD:a.txt",
    "GIT_PAGER=cat git show HEAD:a.txt",
    "git show HEAD:a.txt $(echo x)",
    "sh -c 'git show HEAD:a.txt'",
  ]) {
    const denied = await bash(tmp, [command], { args: [...plan, "--yes"] })
    assert.equal(denied.code, 3, command)
    assert.match(denied.err, /denied in plan mode/, command)
    assert.doesNotMatch(denied.result, /line-one/, command)
  }
  for (const rule of ["bash.execute:git show *", "bash.execute", "*"]) {
    const own = await bash(tmp, ["git show HEAD:a.txt"], { args: [...plan, "--deny", rule] })
    assert.equal(own.code, 3, rule)
    assert.doesNotMatch(own.result, /line-one/, rule)
  }
  const kept = await bash(tmp, ["git show HEAD:a.txt"], { args: [...plan, "--deny", "file.read:a.txt"] })
  assert.equal(kept.code, 3, kept.err)
  assert.doesNotMatch(kept.result, /line-one/)
  assert.equal(git(tmp.path, "status", "--porcelain"), "")
})

// A repository whose configuration, attributes and hooks make git run a program in every possible way. In an
// untrusted folder none of these programs runs, whatever git commands the rules allow.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const hooks =
  "pre-commit commit-msg post-commit prepare-commit-msg post-checkout post-merge pre-push pre-rebase post-rewrite reference-transaction post-index-change update pre-receive post-receive pre-merge-commit applypatch-msg"
const commands = [
  "git status",
  "git diff",
  "git diff HEAD",
  "git log -p -2",
  "git show",
  "git blame a.txt",
  "git grep one",
  "git st",
  "git add -A",
  "git commit -q -m changed",
  "git commit -q --allow-empty -S -m signed",
  "git checkout -q -b topic",
  "git checkout -q HEAD~1 -- a.txt",
  "git stash",
  "git stash pop",
  "git reset -q --hard",
  "git merge -q side",
  "git merge --abort",
  "git rebase -q side",
  "git fetch origin",
  "git fetch ext",
  "git fetch helper",
  "git ls-remote origin",
  "git push origin topic",
  "git tag -s signed -m signed",
  "git log -1 --show-signature",
  "git submodule update",
  "git cat-file --textconv HEAD:a.txt",
  "git check-attr -a a.txt",
  "git gc -q",
  "cd nested && git status && git add -A && git diff --cached",
]

/** The person's own configuration. */
function person(tmp: Tmp, more = ""): void {
  mkdirSync(tmp.env.HOME!, { recursive: true })
  writeFileSync(join(tmp.env.HOME!, ".gitconfig"), `[user]\n name = p\n email = p@example.org\n${more}`)
}

/** Marks with a file of its own whatever runs. */
function hostile(tmp: Tmp): { ran(): string[] } {
  const marks = join(tmp.path, "..", "marks")
  mkdirSync(marks)
  const program = (name: string) => {
    const path = join(marks, `.${name.replace(/\W/g, "-")}`)
    writeFileSync(path, `#!/bin/sh\ntouch ${join(marks, name.replace(/\W/g, "-"))}\nexec cat\n`)
    chmodSync(path, 0o755)
    return path
  }
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: tmp.path, env: { ...process.env, ...tmp.env }, stdio: "pipe" })
  person(tmp)
  tmp.write("a.txt", "one\n")
  tmp.write(".gitattributes", "*.txt filter=f diff=d merge=m\n")
  git("add", "-A")
  git("commit", "-qm", "first")
  git("checkout", "-qb", "side")
  tmp.write("a.txt", "side\n")
  git("commit", "-qam", "side")
  git("checkout", "-q", "-")
  tmp.write("a.txt", "main\n")
  git("commit", "-qam", "main")
  writeFileSync(join(tmp.path, ".git/info/exclude"), "nested\n")
  const nested = join(tmp.path, "nested")
  mkdirSync(nested)
  execFileSync("git", ["init", "-q", nested], { env: { ...process.env, ...tmp.env } })
  writeFileSync(join(nested, ".gitattributes"), "*.txt filter=inner diff=inner\n")
  writeFileSync(join(nested, "b.txt"), "b\n")
  appendFileSync(
    join(nested, ".git/config"),
    `[core]\n fsmonitor = ${program("nested-fsmonitor")}\n[filter "inner"]\n clean = ${program("nested-clean")}\n[diff "inner"]\n textconv = ${program("nested-textconv")}\n`,
  )
  writeFileSync(
    join(tmp.path, ".git/included"),
    `[filter "f"]\n clean = ${program("clean")}\n smudge = ${program("smudge")}\n process = ${program("process")}\n required = true\n`,
  )
  appendFileSync(
    join(tmp.path, ".git/config"),
    `[include]\n path = included
[includeIf "onbranch:topic"]\n path = later
[core]\n fsmonitor = ${program("fsmonitor")}\n sshCommand = ${program("ssh")}\n pager = ${program("pager")}\n editor = ${program("editor")}\n askPass = ${program("askpass")}\n gitProxy = ${program("proxy")}\n alternateRefsCommand = ${program("alternates")}
[diff]\n external = ${program("external")}
[diff "d"]\n textconv = ${program("textconv")}
[merge "m"]\n driver = ${program("merge")} %A %O %B
[alias]\n st = !${program("alias")}
[gpg]\n program = ${program("gpg")}
[user]\n signingKey = x
[pager]\n log = ${program("pager-log")}
[credential]\n helper = ${program("credential")}
[interactive]\n diffFilter = ${program("difffilter")}
[sequence]\n editor = ${program("sequence")}
[protocol "ext"]\n allow = always
[remote "origin"]\n url = ${tmp.path}\n uploadpack = ${program("uploadpack")}\n receivepack = ${program("receivepack")}
[remote "ext"]\n url = ext::${program("ext")}
[remote "helper"]\n url = git://127.0.0.1:1/x\n
[submodule "s"]\n url = ${tmp.path}\n update = !${program("submodule")}\n active = true\n`,
  )
  writeFileSync(join(tmp.path, ".git/later"), `[diff "d"]\n command = ${program("command")}\n`)
  for (const hook of hooks.split(" ")) {
    const path = join(tmp.path, ".git/hooks", hook)
    writeFileSync(path, `#!/bin/sh\ntouch ${join(marks, `hook-${hook}`)}\n`)
    chmodSync(path, 0o755)
  }
  tmp.write("a.txt", "changed\n")
  return { ran: () => readdirSync(marks).filter((name) => !name.startsWith(".")) }
}

test("git commands of the model run nothing that an untrusted folder defines", async () => {
  await using tmp = await tmpdir({ git: true })
  const { ran } = hostile(tmp)
  assert.deepEqual(ran(), [])
  await using llm = await fakeLlm([...commands.map((command) => call("bash", { command })), text("done")])
  const rules = ["--allow", "bash.execute:git *", "--allow", "bash.execute:cd *"]
  const { code, err } = await vitamin(tmp, ["run", ...rules, "--yes", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.deepEqual(ran(), [], err)
  // Our own calls of git: what a session changed, undo, and what is installed.
  for (const args of [["session", "diff"], ["session", "revert", "--force"], ["doctor"]])
    await vitamin(tmp, args)
  assert.deepEqual(ran(), [])
  // The commands did their work.
  const log = execFileSync("git", ["log", "--format=%s", "--all"], { cwd: tmp.path, encoding: "utf8" })
  assert.match(log, /^changed$/m)
})

/** A repository inside the one of the folder, in its index, whose filter marks that it ran. */
function nestedRepository(tmp: Tmp, gitFile?: (gitDir: string) => string): { ran(): boolean } {
  const nested = join(tmp.path, "inside")
  const mark = join(tmp.path, "..", "filter-ran")
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env: { ...process.env, ...tmp.env }, stdio: "pipe" })
  person(tmp)
  mkdirSync(nested)
  git(nested, "init", "-q")
  writeFileSync(join(nested, ".gitattributes"), "*.txt filter=inner\n")
  writeFileSync(join(nested, "b.txt"), "b\n")
  git(nested, "add", "-A")
  git(nested, "commit", "-qm", "inner")
  git(tmp.path, "add", "inside")
  git(tmp.path, "commit", "-qm", "outer")
  git(nested, "config", "filter.inner.clean", `touch ${mark}; cat`)
  // Of the same size, so that git must read it.
  writeFileSync(join(nested, "b.txt"), "c\n")
  if (gitFile) {
    const moved = join(tmp.path, ".git", "moved\nhere")
    renameSync(join(nested, ".git"), moved)
    writeFileSync(join(nested, ".git"), gitFile(moved))
  }
  return { ran: () => existsSync(mark) }
}

for (const [name, gitFile] of [
  ["a folder", undefined],
  ["a file", (gitDir: string) => `gitdir: ${gitDir}\n`],
  ["a long file", (gitDir: string) => `gitdir: ${gitDir}${"\n".repeat(5000)}`],
] as const)
  test(`git runs no filter of a repository inside an untrusted one whose .git is ${name}`, async () => {
    await using tmp = await tmpdir({ git: true })
    const { ran } = nestedRepository(tmp, gitFile)
    const reading = ["git status", "git diff", "git diff HEAD"]
    await using llm = await fakeLlm([...reading.map((command) => call("bash", { command })), text("done")])
    const { code, err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
    assert.equal(code, 0, err)
    assert.equal(ran(), false)
    assert.match(JSON.stringify(llm.requests[1]!.body), /modified: +inside/)
  })

test("git runs no filter of a repository inside an untrusted one that a link leads into", async () => {
  await using tmp = await tmpdir({ git: true })
  const { ran } = nestedRepository(tmp)
  tmp.git("rm", "-q", "--cached", "inside")
  mkdirSync(join(tmp.path, "inside/deep"))
  symlinkSync("inside/deep", join(tmp.path, "link"))
  await using llm = await fakeLlm([call("bash", { command: "cd link && git status" }), text("done")])
  const { code, err } = await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.equal(ran(), false)
  assert.match(JSON.stringify(llm.requests[1]!.body), /modified: +\.\.\/b\.txt/)
})

test("the same repository runs its programs once the folder is trusted", async () => {
  await using tmp = await tmpdir({ git: true })
  const { ran } = hostile(tmp)
  const some = ["git status", "git diff", "git st", "git add -A", "git commit -q -m changed"]
  await using llm = await fakeLlm([...some.map((command) => call("bash", { command })), text("done")])
  const { variables } = env(llm, "chat")
  const { code, err } = await vitamin(tmp, ["run", "--trust", "--yes", "go"], variables)
  assert.equal(code, 0, err)
  for (const name of ["fsmonitor", "process", "alias", "hook-pre-commit"])
    assert.ok(ran().includes(name), `${name} did not run: ${ran()}`)
})

test("the person's own filters, aliases and helpers work in an untrusted folder that redefines them", async () => {
  await using tmp = await tmpdir({ git: true })
  const mark = join(tmp.path, "..", "mine")
  person(tmp, `[alias]\n mine = "!touch ${mark}"\n`)
  appendFileSync(join(tmp.path, ".git/config"), `[alias]\n mine = "!touch ${mark}-hostile"\n`)
  await using llm = await fakeLlm([call("bash", { command: "git mine" }), text("done")])
  const { err } = await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.deepEqual([existsSync(mark), existsSync(`${mark}-hostile`)], [true, false], err)
})

test("git is off if an untrusted folder has a setting that cannot be overridden", async () => {
  await using tmp = await tmpdir({ git: true })
  appendFileSync(join(tmp.path, ".git/config"), `[core]\n worktree = ${join(tmp.path, "..", "..")}\n`)
  await using llm = await fakeLlm([call("bash", { command: "git status" }), text("done")])
  await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.match(JSON.stringify(llm.requests[1]!.body), /off in an untrusted folder/)
})

test("git that reads without asking fetches nothing from a remote of an untrusted folder", async () => {
  await using tmp = await tmpdir({ git: true })
  let requests = 0
  const server = createServer((_, response) => void response.writeHead(404).end(String(requests++)))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: tmp.path, env: { ...process.env, ...tmp.env }, encoding: "utf8" }).trim()
  person(tmp)
  tmp.write("a.txt", "one\n")
  git("add", "-A")
  git("commit", "-qm", "first")
  const blob = git("rev-parse", "HEAD:a.txt")
  rmSync(join(tmp.path, ".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true })
  appendFileSync(
    join(tmp.path, ".git/config"),
    `[core]\n repositoryformatversion = 1\n[extensions]\n partialClone = origin\n[remote "origin"]\n url = http://127.0.0.1:${port}/x\n promisor = true\n`,
  )
  const commands = ["git show HEAD:a.txt", "git show HEAD:a.txt | head -1"]
  await using llm = await fakeLlm([...commands.map((command) => call("bash", { command })), text("done")])
  const args = ["run", "--allow", "bash.execute:head *", "go"]
  const { code, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  server.close()
  assert.equal(code, 0, err)
  for (const { body } of llm.requests.slice(1))
    assert.match(JSON.stringify((body.messages as unknown[]).at(-1)), /transport 'http' not allowed/)
  assert.equal(requests, 0)
})

// Git that reads without asking, in folders that were prepared to make it read something else: nothing outside of the
// workspace reaches the model.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim()

function commit(tmp: Tmp, path: string, content: string): void {
  tmp.write(path, content)
  git(tmp.path, "add", "-A")
  git(tmp.path, "-c", "user.name=p", "-c", "user.email=p@example.org", "commit", "-qm", "one more")
}

/** What the model got back for commands that nobody was asked about. */
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
  "whose .git shares what another repository has": {
    commands: ["git show HEAD:private.txt"],
    set: (workspace, other) => writeFileSync(join(workspace, ".git/commondir"), `${other}/.git\n`),
  },
  "with a link to another repository": {
    commands: ["cd link && git show HEAD:private.txt"],
    args: ["--allow", "bash.execute:cd *"],
    set: (workspace, other) => symlinkSync(other, join(workspace, "link")),
  },
  "with a repository inside that names another one": {
    commands: ["cd inside && git show HEAD:private.txt"],
    args: ["--allow", "bash.execute:cd *"],
    set(workspace, other) {
      mkdirSync(join(workspace, "inside"))
      writeFileSync(join(workspace, "inside/.git"), `gitdir: ${other}/.git\n`)
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
    commit(other, "private.txt", "what is private\n")
    set(tmp.path, other.path)
    const { err, result } = await bash(tmp, commands, { args })
    assert.doesNotMatch(result, /what is private/, err)
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

test("git is asked for where our own keys and tokens lie in the workspace", async () => {
  await using tmp = await tmpdir({ git: true })
  commit(tmp, "state/vitamin/token", "an-older-token\n")
  const variables = { XDG_STATE_HOME: join(tmp.path, "state") }
  const { code, err, result } = await bash(tmp, ["git log -p"], { variables })
  assert.equal(code, 3, err)
  assert.doesNotMatch(result, /an-older-token/)
})

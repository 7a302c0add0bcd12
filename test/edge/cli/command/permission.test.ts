// Permissions of `vitamin run` if nobody can be asked: flags, plan mode, and the exit code.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const write = (path: string) => call("write", { path, content: "x\n" })

async function run(script: Parameters<typeof fakeLlm>[0], args: string[]) {
  const tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(script)
  const result = await vitamin(tmp, ["run", ...args, "go"], env(llm, "chat").variables)
  const sent = llm.requests.map(({ body }) => JSON.stringify(body))
  return { ...result, tmp, sent, has: (name: string) => existsSync(join(tmp.path, name)) }
}

test("vitamin run denies a call if nobody can be asked, tells the model the flag that allows it, and exits with 3", async () => {
  const { code, out, err, sent, has, tmp } = await run([write("a.txt"), text("I could not.")], [])
  await using _ = tmp
  assert.equal(code, 3, err)
  assert.equal(out, "I could not.")
  assert.equal(has("a.txt"), false)
  assert.match(sent[1]!, /--allow \\"file\.write:a\.txt\\" or --yes would allow it/)
  const last = err.trimEnd().split("\n").at(-1)!
  assert.match(
    last,
    /^vitamin: denied, since nobody could be asked: file\.write of ".*a\.txt" \(--allow "file\.write:a\.txt" or --yes would allow it\.\)$/,
  )
})

for (const flags of [["--allow", "file.write:*.txt"], ["--allow", "file.write"], ["--yes"]])
  test(`vitamin run ${flags.join(" ")} allows the call`, async () => {
    const { code, err, tmp } = await run([write("a.txt"), text("done")], flags)
    await using _ = tmp
    assert.equal(code, 0, err)
    assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "x\n")
  })

test("vitamin run --deny wins over --allow and --yes, and the run ends with exit code 3", async () => {
  const flags = ["--allow", "file.write:**", "--deny", "file.write:b/**", "--yes"]
  const { code, err, has, sent, tmp } = await run(
    [calls([write("a.txt"), write("b/c.txt")]), text("done")],
    flags,
  )
  await using _ = tmp
  assert.equal(code, 3, err)
  assert.match(err, /^vitamin: denied by a rule: file\.write of "b\/c\.txt"$/m)
  assert.deepEqual([has("a.txt"), has("b/c.txt")], [true, false])
  assert.match(sent[1]!, /is denied by the rule/)
})

test("vitamin run --yes does not write files that can make something run", async () => {
  const { code, err, has, tmp } = await run(
    [write(".vitamin/config.jsonc"), text("done")],
    ["--yes", "--allow", "*"],
  )
  await using _ = tmp
  assert.equal(code, 3, err)
  assert.equal(has(".vitamin/config.jsonc"), false)
  assert.match(
    err,
    /It would change what runs on this machine: --allow "file\.write:\.vitamin\/config\.jsonc" would allow it/,
  )
})

test("vitamin run --mode plan changes nothing, whatever is allowed, and the session stays in plan mode", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    write("a.txt"),
    text("one"),
    write("a.txt"),
    text("two"),
    write("a.txt"),
    text("three"),
  ])
  const { variables } = env(llm, "chat")
  const go = (...args: string[]) => vitamin(tmp, ["run", "--yes", ...args, "go"], variables)
  const planned = await go("--mode", "plan")
  assert.equal(planned.code, 3, planned.err)
  assert.match(
    planned.err,
    /^vitamin: denied in plan mode, which only reads \(--mode act allows changes\): file\.write of "a\.txt"$/m,
  )
  assert.equal((await go("--continue")).out, "two")
  assert.equal(existsSync(join(tmp.path, "a.txt")), false)
  assert.equal((await go("--continue", "--mode", "act")).out, "three")
  assert.equal(existsSync(join(tmp.path, "a.txt")), true)
})

test("vitamin run --mode plan that only reads ends with 0", async () => {
  const { code, err, tmp } = await run([call("ls", { path: "." }), text("a plan")], ["--mode", "plan"])
  await using _ = tmp
  assert.equal(code, 0, err)
})

test("vitamin session mode changes the mode", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("one"), write("a.txt"), text("two")])
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["run", "go"], variables)
  const [{ id }] = JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)
  const changed = await vitamin(tmp, ["session", "mode", id, "plan"])
  assert.deepEqual([changed.code, changed.out], [0, `${id}: plan`])
  assert.equal((await vitamin(tmp, ["run", "--session", id, "--yes", "go"], variables)).out, "two")
  assert.equal(existsSync(join(tmp.path, "a.txt")), false)
  assert.equal((await vitamin(tmp, ["session", "mode", id, "dream"])).code, 2)
})

test("vitamin run --allow lets bash run the named command and no other", async () => {
  const script = [
    calls([
      call("bash", { command: "echo one > one" }),
      call("bash", { command: "touch two" }),
      call("bash", { command: "touch three" }),
    ]),
    text("done"),
  ]
  const { code, err, has, tmp } = await run(script, [
    "--allow",
    "bash.execute:touch t*",
    "--deny",
    "bash.execute:* three",
  ])
  await using _ = tmp
  assert.equal(code, 3, err)
  assert.deepEqual(["one", "two", "three"].map(has), [false, true, false])
})

for (const [args, says] of [
  [["--allow", "bash.exec:ls"], /--allow: .*"bash\.exec" does not exist; did you mean "bash\.execute"\?/],
  [["--deny", "nothing"], /--deny: .*there are file\.read/],
  [["--allow", "bash.execute:"], /has no pattern/],
  [["--mode", "dream"], /mode/],
] as const)
  test(`vitamin run ${args.join(" ")} is a usage error`, async () => {
    await using tmp = await tmpdir()
    const { code, err } = await vitamin(tmp, ["run", ...args, "x"])
    assert.equal(code, 2, err)
    assert.match(err, says)
    assert.match(err, /^vitamin: [^\n]+\n$/)
  })

const whatRuns = [
  ".vscode/tasks.json",
  ".vscode/settings.json",
  ".vscode/launch.json",
  ".VSCode/Tasks.json",
  "packages/a/.vscode/extensions.json",
  "app.code-workspace",
  ".envrc",
  "sub/.envrc",
  ".idea/workspace.xml",
  ".idea/runConfigurations/x.xml",
  ".devcontainer/devcontainer.json",
  ".devcontainer.json",
  ".zed/tasks.json",
  ".cursor/mcp.json",
  ".nvim.lua",
  ".exrc",
  ".dir-locals.el",
  ".husky/pre-commit",
  ".githooks/pre-commit",
  ".git/hooks/pre-commit",
  ".git/config",
  ".gitconfig",
  ".mcp.json",
  ".codex/config.toml",
  ".gemini/settings.json",
  ".windsurf/mcp.json",
  ".kiro/hooks/x.json",
  "opencode.json",
  ".pre-commit-config.yaml",
  "lefthook.yml",
  ".lefthook-local.toml",
  ".lintstagedrc.json",
  "mise.toml",
  ".mise.local.toml",
  ".tool-versions",
  ".vs/tasks.vs.json",
  ".lvimrc",
  ".helix/config.toml",
  "x.sublime-project",
  ".npmrc",
  ".yarnrc.yml",
  ".yarn/releases/yarn.cjs",
  ".cargo/config.toml",
  ".gitattributes",
  ".gitmodules",
  "node_modules/.bin/tsc",
  ".github/workflows/ci.yml",
  ".gitlab-ci.yml",
]

test("vitamin run --yes writes no file that can make something run, not even through a link, unless a rule names it", async () => {
  await using tmp = await tmpdir({ git: true })
  const before = new Map<string, string>()
  for (const [i, path] of whatRuns.entries()) {
    const place = join(tmp.path, path)
    mkdirSync(dirname(place), { recursive: true })
    if (!existsSync(place)) writeFileSync(place, "before")
    before.set(path, readFileSync(place, "utf8"))
    symlinkSync(place, join(tmp.path, `link${i}`))
    linkSync(place, join(tmp.path, `hard${i}`))
  }
  const attempts = whatRuns.flatMap((path, i) => [
    write(path),
    write(`link${i}`),
    write(`hard${i}`),
    call("edit", { path: `link${i}`, edits: [{ oldText: before.get(path)!, newText: "after" }] }),
    call("bash", { command: `echo x | tee ${path}` }),
  ])
  await using llm = await fakeLlm([calls(attempts), text("done"), calls(whatRuns.map(write)), text("done")])
  const { variables } = env(llm, "chat")
  const wide = ["--yes", "--allow", "*", "--allow", "file.write:**", "--allow", "file.edit:**"]
  const { code, err } = await vitamin(tmp, ["run", ...wide, "go"], variables)
  assert.equal(code, 3, err)
  for (const path of whatRuns)
    assert.equal(readFileSync(join(tmp.path, path), "utf8"), before.get(path), `${path} was changed`)
  const results = llm.requests[1]!.messages.flatMap((message) => message.results ?? [])
  assert.equal(results.filter(({ text }) => text.includes("was not run")).length, attempts.length, err)
  const named = whatRuns.flatMap((path) => ["--allow", `file.write:${path}`])
  const allowed = await vitamin(tmp, ["run", ...named, "go"], variables)
  assert.equal(allowed.code, 0, allowed.err)
  for (const path of whatRuns) assert.equal(readFileSync(join(tmp.path, path), "utf8"), "x\n", path)
})

test("vitamin run --yes writes a Makefile, hard links to other files, and runs installed programs", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "before")
  linkSync(join(tmp.path, "a.txt"), join(tmp.path, "b.txt"))
  tmp.write("node_modules/.bin/tool", "#!/bin/sh\necho ran > ran.txt\n")
  chmodSync(join(tmp.path, "node_modules/.bin/tool"), 0o755)
  const attempts = [
    ...["Makefile", "b.txt", ".github/dependabot.yml", "src/config.toml"].map(write),
    call("bash", { command: "./node_modules/.bin/tool" }),
  ]
  await using llm = await fakeLlm([calls(attempts), text("done")])
  const { code, err } = await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  for (const path of ["Makefile", "a.txt", "b.txt"])
    assert.equal(readFileSync(join(tmp.path, path), "utf8"), "x\n", path)
  assert.equal(readFileSync(join(tmp.path, "ran.txt"), "utf8"), "ran\n")
})

test("vitamin run --yes does not write outside the work tree through a link, and names the target", async () => {
  await using tmp = await tmpdir({ git: true })
  await using other = await tmpdir()
  const outside = join(other.path, "outside.txt")
  writeFileSync(outside, "before")
  symlinkSync(outside, join(tmp.path, "notes.txt"))
  symlinkSync(join(other.path, "new.txt"), join(tmp.path, "dangling.txt"))
  symlinkSync(other.path, join(tmp.path, "folder"))
  const edit = call("edit", { path: "notes.txt", edits: [{ oldText: "before", newText: "after" }] })
  const all = [write("notes.txt"), edit, write("dangling.txt"), write("folder/deep/new.txt")]
  await using llm = await fakeLlm([calls(all), text("done"), write("notes.txt"), text("done")])
  const { variables } = env(llm, "chat")
  const denied = await vitamin(tmp, ["run", "--yes", "--allow", "file.write:**", "go"], variables)
  assert.equal(denied.code, 3, denied.err)
  assert.equal(readFileSync(outside, "utf8"), "before")
  assert.deepEqual(readdirSync(other.path), ["outside.txt"])
  assert.ok(
    denied.err.includes(`A link leads out of the workspace: --allow "file.write:${outside}"`),
    denied.err,
  )
  const rule = ["--allow", "file.write:notes.txt", "--allow", `file.write:${outside}`]
  const named = await vitamin(tmp, ["run", ...rule, "go"], variables)
  assert.equal(named.code, 0, named.err)
  assert.equal(readFileSync(outside, "utf8"), "x\n")
  assert.ok(named.err.includes(`notes.txt → ${outside} (`), named.err)
})

test("a path outside the work tree is denied with the rule that would allow it; --yes approves it and shows the whole path", async () => {
  await using tmp = await tmpdir({ git: true })
  await using other = await tmpdir()
  const outside = join(other.path, "x.txt")
  await using llm = await fakeLlm([write(outside), text("done"), write(outside), text("done")])
  const { variables } = env(llm, "chat")
  const denied = await vitamin(tmp, ["run", "--allow", "file.write:**", "go"], variables)
  assert.equal(denied.code, 3, denied.err)
  assert.equal(existsSync(outside), false)
  assert.ok(denied.err.includes(`--allow "file.write:${outside}" or --yes would allow it`), denied.err)
  const approved = await vitamin(tmp, ["run", "--yes", "go"], variables)
  assert.equal(approved.code, 0, approved.err)
  assert.equal(readFileSync(outside, "utf8"), "x\n")
  assert.ok(approved.err.includes(`Write ${outside} (`), approved.err)
})

/** Runs a prompt whose model calls bash once. Returns the exit code and the result that the model got. */
async function bash(tmp: Tmp, command: string, args: string[] = []) {
  await using llm = await fakeLlm([call("bash", { command }), text("done")])
  const { code, err } = await vitamin(tmp, ["run", ...args, "go"], env(llm, "chat").variables)
  return { code, err, result: JSON.stringify(llm.requests[1]?.body) }
}

async function repository(): Promise<Tmp> {
  const tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "line-one\n")
  const git = (...args: string[]) => execFileSync("git", args, { cwd: tmp.path, stdio: "pipe" })
  git("add", "a.txt")
  git("-c", "user.name=p", "-c", "user.email=p@example.org", "commit", "-qm", "the first one")
  tmp.write("a.txt", "line-two\n")
  return tmp
}

for (const [command, shows] of [
  ["git status", /modified: +a\.txt/],
  ["git status --short --branch", / M a\.txt/],
  ["git --no-pager log --oneline -5", /the first one/],
  ["git log -p -1 -- a.txt", /\+line-one/],
  ["git diff HEAD -- a.txt", /\+line-two/],
  ["git show HEAD:a.txt", /line-one/],
  ["git status && git diff --stat", /1 insertion/],
  ["git blame a.txt", /line-two/],
  ["git branch --show-current", /ma/],
] as const)
  test(`vitamin run reads the repository without asking: ${command}`, async () => {
    await using tmp = await repository()
    const { code, err, result } = await bash(tmp, command)
    assert.equal(code, 0, err)
    assert.match(result, shows)
  })

for (const command of [
  "git commit -qam x",
  "git branch other",
  "git diff --output=b.txt",
  "git diff --no-index a.txt /etc/hostname",
  "git diff /etc/hostname /etc/hosts",
  "git diff ../x ../y",
  "git log > b.txt",
  "git log $(touch b.txt)",
  "git -c core.pager=x log",
  "git blame --contents /etc/hostname a.txt",
  "git status; touch b.txt",
  "GIT_EXTERNAL_DIFF=x git diff",
])
  test(`vitamin run asks for a git command that does more than read: ${command}`, async () => {
    await using tmp = await repository()
    const { code, err } = await bash(tmp, command)
    assert.equal(code, 3, err)
    assert.equal(existsSync(join(tmp.path, "b.txt")), false)
  })

test("vitamin run asks for git if a rule restricts reading a file, and denies git if a rule denies it", async () => {
  await using tmp = await repository()
  const kept = await bash(tmp, "git show HEAD:a.txt", ["--deny", "file.read:a.txt"])
  assert.equal(kept.code, 3, kept.err)
  assert.doesNotMatch(kept.result, /line-one/)
  const denied = await bash(tmp, "git status", ["--deny", "bash.execute:git *"])
  assert.match(denied.err, /denied by a rule: bash\.execute of "git status"/)
})

test("vitamin run asks for git diff outside a repository, because it can compare any files", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.txt", "one\n")
  tmp.write("b.txt", "two\n")
  const { code, err } = await bash(tmp, "git diff a.txt b.txt")
  assert.equal(code, 3, err)
})

// Command files through the command line: their text, arguments, files and shell lines, before and after trust.
import assert from "node:assert/strict"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const commit = `---
allowed-tools: Bash(git add:*), Bash(git commit:*)
description: Commit what has changed
argument-hint: [subject] [reason]
---
Branch: !\`git branch --show-current\`
Commit with the subject "$1" because $2.
`

function own(tmp: Tmp, name: string, content: string): void {
  const file = join(tmp.env.XDG_CONFIG_HOME!, "vitamin/commands", name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

/** What the model got as the last message of a person. */
function prompted(llm: FakeLlm, at = -1): string {
  return llm.requests.at(at)!.messages.findLast(({ role }) => role === "user")!.text
}

test("vitamin run fills a reviewed command, runs its shell lines, and allows what it names", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".claude/commands/git/commit.md", commit)
  tmp.write("new.txt", "new\n")
  await using llm = await fakeLlm([
    call("bash", { command: "git add new.txt" }),
    call("bash", { command: "git commit -q -m Subject" }),
    call("bash", { command: "touch other.txt" }),
    text("done"),
  ])
  const { variables } = env(llm, "chat")
  tmp.git("config", "user.email", "a@example.com")
  tmp.git("config", "user.name", "A")
  const run = await vitamin(tmp, ["run", "--trust", '/commit "a fix" reasons'], variables)
  assert.equal(run.code, 3, run.err)
  const branch = tmp.git("branch", "--show-current").trim()
  assert.equal(prompted(llm, 0), `Branch: ${branch}\nCommit with the subject "a fix" because reasons.`)
  assert.equal(tmp.git("log", "-1", "--format=%s").trim(), "Subject")
  // The command allows nothing else.
  assert.match(run.err, /touch other\.txt/)
  const { out } = await vitamin(tmp, ["session", "list", "--format", "json"])
  assert.equal(JSON.parse(out)[0].title, '/commit "a fix" reasons')
})

test("vitamin run uses only the text of a command that nobody has reviewed, and names the rest", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(
    ".opencode/command/x.md",
    "---\nmodel: test/other\nagent: nobody\nallowed-tools: Write\n---\nSee !`touch ran.txt` and $ARGUMENTS",
  )
  await using llm = await fakeLlm([call("write", { path: "w.txt", content: "w" }), text("done")])
  const run = await vitamin(tmp, ["run", "/x", "this"], env(llm, "chat").variables)
  assert.equal(run.code, 3, run.err)
  assert.equal(prompted(llm, 0), "See (not run: `touch ran.txt`) and this")
  assert.match(run.err, /ignored: allowed-tools, model, agent, !`touch ran\.txt`; the folder is not trusted/)
  assert.match(run.err, /"write" was not run|w\.txt/)
  assert.doesNotMatch(tmp.git("status", "--short"), /ran\.txt|w\.txt/)
})

test("a shell line that the rules deny does not run, and the prompt says so", async () => {
  await using tmp = await tmpdir({ git: true })
  own(tmp, "x.md", "A !`touch ran.txt` B !`echo two words` C")
  await using llm = await fakeLlm([text("done")])
  const rules = ["--deny", "bash.execute:touch *", "--allow", "bash.execute:echo *"]
  const run = await vitamin(tmp, ["run", ...rules, "/x"], env(llm, "chat").variables)
  assert.equal(run.code, 3, run.err)
  assert.match(prompted(llm), /^A \(`touch ran\.txt` was not run or failed: .*\) B two words C$/s)
  assert.match(run.err, /touch ran\.txt/)
  assert.equal(tmp.git("status", "--short"), "")
})

test("the output of a shell line is bounded, and @path in it is no reference", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "CONTENT-A\n")
  tmp.write("b.txt", "CONTENT-B\n")
  own(tmp, "x.md", "See @$1. !`seq 100000; echo @b.txt`")
  await using llm = await fakeLlm([text("done")])
  const run = await vitamin(tmp, ["run", "--yes", "/x a.txt"], env(llm, "chat").variables)
  assert.equal(run.code, 0, run.err)
  assert.match(llm.requests[0]!.raw, /CONTENT-A/)
  assert.doesNotMatch(llm.requests[0]!.raw, /CONTENT-B/)
  assert.ok(llm.requests[0]!.messages.every((one) => one.text.length < 60_000))
})

test("model, agent and mode of a command apply to its prompt only", async () => {
  await using tmp = await tmpdir({ git: true })
  own(tmp, "x.md", "---\nmodel: openai/other\nagent: reviewer\nmode: plan\n---\nLook at it.")
  tmp.write(".vitamin/agents/reviewer.md", "---\nname: Reviewer\n---\nYou are REVIEWER.")
  await using llm = await fakeLlm([
    call("write", { path: "w.txt", content: "w" }),
    text("planned"),
    call("write", { path: "w.txt", content: "w" }),
    text("done"),
  ])
  const { variables } = env(llm, "chat")
  const first = await vitamin(tmp, ["run", "--trust", "--yes", "/x"], variables)
  assert.equal(first.code, 3, first.err)
  assert.deepEqual([llm.requests[0]!.model, /REVIEWER/.test(llm.requests[0]!.raw)], ["other", true])
  assert.equal(tmp.git("status", "--short", "w.txt"), "")
  const second = await vitamin(tmp, ["run", "--trust", "--yes", "-c", "now do it"], variables)
  assert.equal(second.code, 0, second.err)
  assert.notEqual(llm.requests[2]!.model, "other")
  assert.doesNotMatch(llm.requests[2]!.raw, /You are REVIEWER/)
  assert.match(tmp.git("status", "--short", "w.txt"), /w\.txt/)
})

test("a model that is not reachable is named, and an agent that does not exist refuses the prompt", async () => {
  await using tmp = await tmpdir({ git: true })
  own(tmp, "x.md", "---\nmodel: claude-nothing-9\n---\nLook.")
  own(tmp, "y.md", "---\nagent: reviwer\n---\nLook.")
  await using llm = await fakeLlm([text("done")])
  const { variables } = env(llm, "chat")
  const run = await vitamin(tmp, ["run", "/x"], variables)
  assert.equal(run.code, 0, run.err)
  assert.match(run.err, /\/x: its model "claude-nothing-9" is not used/)
  const refused = await vitamin(tmp, ["run", "/y"], variables)
  assert.deepEqual([refused.code, llm.requests.length], [2, 1])
  assert.match(refused.err, /"reviwer" does not exist/)
})

test("vitamin command list names what is not used: broken, huge, misnamed, linked outside, or taken", async () => {
  await using tmp = await tmpdir({ git: true })
  const folder = ".vitamin/commands"
  tmp.write(`${folder}/good.md`, "Good.")
  tmp.write(".claude/commands/good.md", "Another.")
  tmp.write(`${folder}/broken.md`, "---\ndescription: [\n- x\n---\nText")
  tmp.write(`${folder}/wrong.md`, "---\nmode: yolo\n---\nText")
  tmp.write(`${folder}/js.md`, "---js\nrun()\n---\nText")
  tmp.write(`${folder}/empty.md`, "---\ndescription: x\n---\n")
  tmp.write(`${folder}/huge.md`, "x".repeat(300_000))
  tmp.write(`${folder}/binary.md`, new Uint8Array([0xff, 0xfe, 0, 1]))
  tmp.write(`${folder}/a b.md`, "Text")
  writeFileSync(join(tmp.path, "..", "secret.md"), "SECRET")
  symlinkSync("../../../secret.md", join(tmp.path, folder, "link.md"))
  symlinkSync("..", join(tmp.path, folder, "circle"))
  mkdirSync(join(tmp.path, folder, "folder.md"))
  const { code, out } = await vitamin(tmp, ["command", "list", "--format", "json"])
  assert.equal(code, 0)
  const { commands, problems } = JSON.parse(out) as {
    commands: { name: string }[]
    problems: { file: string; message: string }[]
  }
  assert.deepEqual(
    commands.map(({ name }) => name),
    ["good"],
  )
  const named = (name: string) => problems.find(({ file }) => file.endsWith(name))?.message ?? ""
  assert.match(named("broken.md"), /it is not used: /)
  assert.match(named("wrong.md"), /mode: /)
  assert.match(named("/js.md"), /front matter of the kind "js" is not read/)
  assert.match(named("empty.md"), /it has no text/)
  assert.match(named("huge.md"), /300000 bytes are too many/)
  assert.match(named("binary.md"), /it is not used: /)
  assert.match(named("a b.md"), /other characters/)
  assert.match(named("link.md"), /outside the work tree/)
  assert.match(named(".claude/commands/good.md"), /has the name "good" already/)
  const listed = await vitamin(tmp, ["command", "list"])
  assert.match(listed.out, /^\/good +unreviewed Good\./m)
})

test("a command of the person goes before an unreviewed one of the project, and a reviewed one before both", async () => {
  await using tmp = await tmpdir({ git: true })
  own(tmp, "x.md", "OWN")
  tmp.write(".vitamin/commands/x.md", "PROJECT")
  await using llm = await fakeLlm([text("a"), text("b")])
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["run", "/x"], variables)
  assert.equal(prompted(llm), "OWN")
  await vitamin(tmp, ["run", "--trust", "/x"], variables)
  assert.equal(prompted(llm), "PROJECT")
})

test("a command that includes itself is sent once", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/commands/x.md", "/x again, see @.vitamin/commands/x.md and $ARGUMENTS")
  await using llm = await fakeLlm([text("done")])
  const run = await vitamin(tmp, ["run", "/x", "/x"], env(llm, "chat").variables)
  assert.equal(run.code, 0, run.err)
  assert.equal(llm.requests.length, 1)
  assert.ok(llm.requests[0]!.messages.some((one) => one.text.startsWith("/x again, see")))
})

test("vitamin command show prints a command, and names the nearest for an unknown one", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".claude/commands/git/commit.md", commit)
  const shown = await vitamin(tmp, ["command", "show", "commit"])
  assert.match(shown.out, /^name +\/git:commit$/m)
  assert.match(shown.out, /^arguments +\[subject\] \[reason\]$/m)
  assert.match(shown.out, /^allows +bash\.execute:git add, bash\.execute:git add \*, /m)
  assert.match(shown.out, /^not trusted +its shell lines/m)
  const unknown = await vitamin(tmp, ["command", "show", "git:comit"])
  assert.equal(unknown.code, 2)
  assert.match(unknown.err, /There is no command file "git:comit"\. Did you mean "git:commit"\?/)
})

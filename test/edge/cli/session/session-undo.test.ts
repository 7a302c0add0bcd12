// A person shows the changes of a session, reverts them, and reverts the revert, in a terminal and over HTTP.
import assert from "node:assert/strict"
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const answers = () => [
  calls([
    call("edit", { path: "README.md", edits: [{ oldText: "fixture", newText: "changed" }] }),
    call("bash", { command: "echo new > new.txt" }),
  ]),
  text("Done."),
]

test("a person looks at the diff, reverts, and reverts the revert", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(answers())
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, ["run", "--yes", "go"], variables)).code, 0)
  const id = await onlySession(tmp)
  const diff = await atTerminal(tmp, ["session", "diff", id])
  assert.match(diff, /-# fixture\s+\+# changed/)
  assert.match(diff, /\+new/)
  assert.match(await atTerminal(tmp, ["session", "diff", id, "--stat"]), /2 files changed/)
  const preview = await atTerminal(tmp, ["session", "revert", id, "--preview"])
  assert.match(preview, /would restore {2}README\.md\s+would remove {2}new\.txt/)
  assert.match(read(tmp, "README.md"), /changed/)
  const reverted = await atTerminal(tmp, ["session", "revert", id])
  assert.match(reverted, /restored {2}README\.md\s+removed {2}new\.txt/)
  assert.equal(read(tmp, "README.md"), "# fixture\n")
  assert.equal(existsSync(join(tmp.path, "new.txt")), false)
  const [, undo = ""] = /To undo this: vitamin (.+?)\s*$/.exec(reverted) ?? []
  await atTerminal(tmp, undo.split(" "))
  assert.equal(read(tmp, "README.md"), "# changed\n")
  assert.equal(read(tmp, "new.txt"), "new\n")
})

test("vitamin session revert reports that nothing is left to undo, and how to redo", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(answers())
  assert.equal((await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)).code, 0)
  assert.equal((await vitamin(tmp, ["session", "revert"])).code, 0)
  const { code, err } = await vitamin(tmp, ["session", "revert"])
  assert.equal(code, 2)
  const [, redo = ""] =
    /^vitamin: Nothing is left to undo in sess_\w{10}\. To redo what was undone last: vitamin (session redo sess_\w{10})$/m.exec(
      err,
    ) ?? []
  assert.notEqual(redo, "", err)
  assert.match((await vitamin(tmp, [...redo.split(" "), "--preview"])).out, /^would restore {2}README\.md$/m)
  assert.match((await vitamin(tmp, redo.split(" "))).out, /^restored {2}README\.md$/m)
  assert.equal(read(tmp, "README.md"), "# changed\n")
  const again = await vitamin(tmp, ["session", "redo"])
  assert.equal(again.code, 1)
  assert.match(again.err, /^vitamin: There is nothing to redo in session sess_\w+\.$/m)
})

test("vitamin session revert of a session without a prompt says that there is nothing to undo", async () => {
  await using tmp = await tmpdir({ git: true })
  const { child, url, tokenFile } = await serving(tmp)
  await using _ = child
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  }
  await fetch(`${url}/session`, { method: "POST", headers, body: "{}" })
  const { code, err } = await vitamin(tmp, ["session", "revert"])
  assert.equal(code, 2)
  assert.match(err, /^vitamin: Nothing is left to undo in sess_\w{10}\.$/m)
})

test("vitamin session diff shows no control characters and no keys of a file in a terminal", async () => {
  await using tmp = await tmpdir({ git: true })
  const key = "sk-own-0123456789abcdef"
  const content = `a\u001b]0;title\u0007b ${key}\n`
  await using llm = await fakeLlm([call("write", { path: "x.txt", content }), text("Done.")])
  await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  const shown = await atTerminal(tmp, ["session", "diff"], { ANTHROPIC_API_KEY: key })
  assert.match(shown, /x\.txt/)
  assert.doesNotMatch(shown, /\]0;title\u0007|sk-own-/)
  const { out } = await vitamin(tmp, ["session", "diff"])
  assert.ok(out.includes(`+${content.trim()}`), JSON.stringify(out))
})

test("vitamin session list shows how many files a session changed, those of its tasks included, until they are undone", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    ...answers(),
    call("subtask", { task: "one more" }),
    call("write", { path: "task.txt", content: "t\n" }),
    text("Task done."),
    call("write", { path: "new.txt", content: "newer\n" }),
    text("All done."),
  ])
  const { variables } = env(llm, "chat")
  const listed = async () => (await vitamin(tmp, ["session", "list"])).out
  assert.equal((await vitamin(tmp, ["run", "--yes", "go"], variables)).code, 0)
  assert.match(await listed(), / idle +openai\/fake-model +\. +2 files changed +go$/)
  const more = await vitamin(tmp, ["run", "--yes", "--continue", "more"], variables)
  assert.equal(more.code, 0, more.err)
  assert.match(await listed(), / 3 files changed /)
  assert.equal((await vitamin(tmp, ["session", "revert"])).code, 0)
  assert.match(await listed(), / 2 files changed /)
})

test("vitamin session revert refuses files that the person changed since, unless --force is given", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(answers())
  await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  const id = await onlySession(tmp)
  tmp.write("new.txt", "by hand\n")
  const refused = await vitamin(tmp, ["session", "revert", id])
  assert.equal(refused.code, 1)
  assert.match(refused.err, /new\.txt: it was changed by somebody else since[\s\S]*--force/)
  assert.match(read(tmp, "README.md"), /changed/)
  assert.equal((await vitamin(tmp, ["session", "revert", id, "--force"])).code, 0)
  assert.equal(read(tmp, "README.md"), "# fixture\n")
  const none = await vitamin(tmp, ["session", "revert", id, "--to", "msg_none"])
  assert.equal(none.code, 1)
  assert.match(none.err, /msg_none/)
})

test("vitamin session diff and revert cover file modes and empty folders, and report what they do not cover", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("key", "secret\n")
  chmodSync(join(tmp.path, "key"), 0o600)
  tmp.git("add", "-A")
  tmp.git("commit", "-qm", "key")
  const script = "chmod 666 key; mkdir -p made/empty"
  await using llm = await fakeLlm([calls([call("bash", { command: script })]), text("Done.")])
  await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  const id = await onlySession(tmp)
  const diff = await vitamin(tmp, ["session", "diff", id])
  assert.match(diff.out, /^mode changed: key \(600 to 666\)\n(.*\n)*folder made: made\/empty\/$/m)
  assert.match(diff.err, /^Note: what git ignores, .* are not covered for commands\.$/m)
  const reverted = await vitamin(tmp, ["session", "revert", id])
  assert.match(reverted.out, /^restored {2}key$/m)
  assert.match(reverted.out, /^removed {2}made\/$/m)
  assert.match(reverted.err, /^Note: what git ignores/m)
  assert.equal(statSync(join(tmp.path, "key")).mode & 0o777, 0o600)
  assert.equal(existsSync(join(tmp.path, "made")), false)
})

for (const die of ["before", "after"] as const)
  test(`vitamin session revert undoes a run that was killed ${die} its edit replaced the file`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm(answers())
    const preload = new URL("../../../fixture/die-at-rename.ts", import.meta.url)
    const killed = await vitamin(tmp, ["run", "--yes", "go"], {
      ...env(llm, "chat").variables,
      NODE_OPTIONS: `--import ${preload}`,
      VITAMIN_TEST_DIE: die,
    })
    assert.notEqual(killed.code, 0)
    assert.match(read(tmp, "README.md"), die === "before" ? /fixture/ : /changed/)
    assert.equal(readdirSync(tmp.path).some(isLeftover), die === "before")
    const id = await onlySession(tmp)
    const changed = {
      before: [/^Nothing is changed\.$/m, /^No file/m],
      after: [/^\+# changed/m, /^would restore/m],
    }
    const [diff, preview] = changed[die]
    const shown = await vitamin(tmp, ["session", "diff", id])
    assert.match(shown.out, diff!)
    const previewed = await vitamin(tmp, ["session", "revert", id, "--preview"])
    assert.match(previewed.out, preview!)
    assert.deepEqual([shown.err, previewed.err], ["", ""])
    assert.doesNotMatch(previewed.out, /--force/)
    const reverted = await vitamin(tmp, ["session", "revert", id])
    assert.equal(reverted.code, 0, reverted.err)
    assert.equal(read(tmp, "README.md"), "# fixture\n")
    assert.equal(readdirSync(tmp.path).some(isLeftover), false)
  })

function isLeftover(name: string): boolean {
  return name.startsWith(".vitamin-tmp.")
}

test("vitamin session diff reports that there are no snapshots", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(answers())
  const off = { ...env(llm, "chat").variables, VITAMIN_CONFIG: JSON.stringify({ snapshot: false }) }
  await vitamin(tmp, ["run", "--yes", "go"], off)
  const shown = await vitamin(tmp, ["session", "diff", await onlySession(tmp)], off)
  assert.match(shown.err, /not known: snapshots are off in the configuration/)
})

test("POST /session/:id/revert previews, refuses with 409, and reverts", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(answers())
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const authorization = `Bearer ${readFileSync(server.tokenFile, "utf8").trim()}`
  const post = async (path: string, body: object) => {
    const headers = { authorization, "content-type": "application/json" }
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const { body: session } = await post("/session", {})
  await post(`/session/${session.id}/message`, { text: "go", asks: "once" })
  const list = await fetch(`${server.url}/session/${session.id}/message`, { headers: { authorization } })
  const [{ id: messageId }] = (await list.json()) as [{ id: string }]
  const path = `/session/${session.id}/revert`
  const preview = await post(path, { messageId, preview: true })
  const { notes, ...would } = preview.body
  assert.deepEqual(would, { restored: ["README.md"], removed: ["new.txt"], conflicts: [] })
  assert.match(String(notes), /what git ignores.* not covered/)
  tmp.write("new.txt", "by hand\n")
  assert.equal((await post(path, { messageId })).status, 409)
  assert.equal((await post(path, { messageId: "msg_none" })).status, 404)
  assert.equal((await post(path, {})).status, 400)
  const done = await post(path, { messageId, force: true })
  assert.equal(done.status, 200)
  assert.match(String(done.body.messageId), /^msg_/)
  assert.equal(read(tmp, "README.md"), "# fixture\n")
})

async function onlySession(tmp: Tmp): Promise<string> {
  const { out } = await vitamin(tmp, ["session", "list", "--format", "json"])
  return (JSON.parse(out) as [{ id: string }])[0].id
}

async function atTerminal(tmp: Tmp, args: string[], env: Record<string, string> = {}): Promise<string> {
  await using terminal = openTerminal(tmp, args, { env })
  assert.equal(await terminal.exit, 0, terminal.shown())
  return terminal.shown()
}

function read(tmp: Tmp, name: string): string {
  return readFileSync(join(tmp.path, name), "utf8")
}

// Hooks in an editor (ACP), over HTTP, for the shell lines of a command, and when vitamin is killed.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { hasProcess } from "#util/process.ts"
import { hooksJson } from "../../../engine/hook/harness.ts"
import { command, serving, startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { choose, withSession } from "../../acp/harness.ts"

const noShell = { PreToolUse: { matcher: "Bash", command: "echo no shell here >&2; exit 2" } }

function writeHooks(tmp: Tmp, commands: Parameters<typeof hooksJson>[0]): void {
  const file = join(tmp.env.XDG_CONFIG_HOME!, "vitamin/hooks.json")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, hooksJson(commands))
}

test("hooks block a call of a session in an editor", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, noShell)
  await using llm = await fakeLlm([call("bash", { command: "touch ran" }), text("ok")])
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
  assert.equal((await acp.prompt("go")).stopReason, "end_turn")
  assert.match(llm.requests[1]!.raw, /no shell here/)
  assert.equal(acp.permissions.length, 0)
  assert.ok(!existsSync(join(tmp.path, "ran")))
})

test("hooks block a prompt over HTTP, with their reason in the answer", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, { UserPromptSubmit: "grep -q forbidden && { echo not this word >&2; exit 2; }; true" })
  await using llm = await fakeLlm([text("ok")])
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const post = (path: string, body: object) =>
    fetch(url + path, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
  const { id } = (await (await post("/session", {})).json()) as { id: string }
  const blocked = await post(`/session/${id}/message`, { text: "a forbidden one" })
  assert.notEqual(blocked.status, 200)
  assert.match(await blocked.text(), /a hook blocks it\. .*not this word/)
  assert.equal(llm.requests.length, 0)
  assert.equal((await post(`/session/${id}/message`, { text: "another one" })).status, 200)
})

test("hooks judge the shell lines of a command", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, noShell)
  tmp.write(".vitamin/commands/go.md", "Look: !`touch ran`")
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  await using llm = await fakeLlm([text("ok")])
  await vitamin(tmp, ["run", "--yes", "/go"], env(llm, "chat").variables)
  assert.match(llm.requests[0]!.raw, /no shell here/)
  assert.ok(!existsSync(join(tmp.path, "ran")))
})

test("a killed vitamin leaves nothing of a hook that runs", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, {
    UserPromptSubmit: "setsid sh -c 'echo $$ > left; exec sleep 100' & echo $$ > own; sleep 100",
  })
  await using llm = await fakeLlm([text("ok")])
  await using child = startVitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  const pidIn = (name: string) => {
    const file = join(tmp.path, name)
    return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0
  }
  await until(() => pidIn("left") > 0 && pidIn("own") > 0, "the hook runs")
  // The process that ends hooks of a killed vitamin is started for hooks that take a while.
  const guard = new RegExp(`^ *${child.process.pid} .*vitamin-guard`, "m")
  const isGuarded = () => guard.test(execFileSync("ps", ["-eo", "ppid=,args="], { encoding: "utf8" }))
  await until(isGuarded, "the process that ends hooks")
  child.process.kill("SIGKILL")
  for (const name of ["own", "left"])
    await until(() => !hasProcess(pidIn(name)), `the process in ${name} to end`)
})

test("an async hook of the answer ends before vitamin does, and one that hangs does not keep it", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, {
    Stop: { command: "sleep 0.4; touch played", async: true },
    UserPromptSubmit: { command: "sleep 300", async: true },
    SessionEnd: { command: "touch ended", async: true },
  })
  await using llm = await fakeLlm([text("ok")])
  const { code, err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.ok(existsSync(join(tmp.path, "played")), "the hook of Stop ran to its end")
  assert.ok(existsSync(join(tmp.path, "ended")), "a hook of SessionEnd is waited for")
  assert.match(err, /the hook "sleep 300" \(UserPromptSubmit\) failed: it was ended by SIGTERM/)
})

test("a hook that runs vitamin, whose hooks run vitamin again, comes to an end", async () => {
  await using tmp = await tmpdir({ git: true })
  const again = `echo x >> "$CLAUDE_PROJECT_DIR"/count; '${process.execPath}' '${command}' run again; true`
  writeHooks(tmp, { UserPromptSubmit: { command: again, timeout: 150 } })
  await using llm = await fakeLlm(() => text("ok"))
  const { code, err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  const count = readFileSync(join(tmp.path, "count"), "utf8").split("\n").length - 1
  assert.ok(count > 1 && count < 20, `${count} times`)
})

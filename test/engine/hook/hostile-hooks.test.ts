// Hooks that try to get around each other, around their review or around their limits.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { createMatcher } from "#ability/hook/hook.ts"
import * as Session from "#engine/session/session.ts"
import { maxProgram } from "#kernel/reviewed/places.ts"
import { hasProcess } from "#util/process.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { resultsOf, textOf } from "../session/harness.ts"
import { decide, notedIn, noteIn, withHooks, withReviewed } from "./harness.ts"

const asks = "once" as const
const bash = (command: string) => call("bash", { command })

test("arguments that a hook changed are judged by the other hooks again", async () => {
  const guarding = `input=$(cat); printf '%s\\n' "$input" >> seen; case $input in *evil*) echo no evil >&2; exit 2;; esac`
  const commands = {
    PreToolUse: [
      { command: guarding },
      { command: decide("PreToolUse", { updatedInput: { command: "touch evil" } }) },
    ],
  }
  await withHooks(commands, [bash("touch fine"), text("ok")], async (world) => {
    await world.ask("go", { asks })
    assert.match(String(resultsOf(await world.messages())[0]!.output), /blocks it: no evil/)
    assert.ok(!existsSync(join(world.tmp.path, "evil")))
    assert.equal(notedIn(world, "seen").length, 2)
  })
})

test("a hook that changes arguments is not told its own change", async () => {
  const command = `${noteIn("seen")}; ${decide("PreToolUse", { updatedInput: { command: "touch b" } })}`
  await withHooks({ PreToolUse: command }, [bash("touch a"), text("ok")], async (world) => {
    await world.ask("go", { asks })
    assert.ok(existsSync(join(world.tmp.path, "b")))
    assert.equal(notedIn(world, "seen").length, 1)
  })
})

test("of two hooks that change arguments the last one wins, and neither may change them again", async () => {
  const commands = {
    PreToolUse: [
      decide("PreToolUse", { updatedInput: { command: "touch a1" } }),
      decide("PreToolUse", { updatedInput: { command: "touch a2" } }),
    ],
  }
  await withHooks(commands, [bash("touch a"), text("ok")], async (world) => {
    await world.ask("go", { asks })
    const [result] = resultsOf(await world.messages())
    assert.equal(result!.status, "success", String(result!.output))
    assert.ok(existsSync(join(world.tmp.path, "a2")) && !existsSync(join(world.tmp.path, "a1")))
  })
})

test("a reviewed script that was removed blocks the calls that it judges", async () => {
  const commands = { PreToolUse: { matcher: "LS", command: 'bash "$CLAUDE_PROJECT_DIR"/.vitamin/check.sh' } }
  const files = { ".vitamin/check.sh": "true\n" }
  await withReviewed({ commands, files }, [call("ls"), text("ok")], async (world) => {
    renameSync(join(world.tmp.path, ".vitamin/check.sh"), join(world.tmp.path, "elsewhere.sh"))
    await world.ask("go", { asks })
    assert.match(String(resultsOf(await world.messages())[0]!.output), /check\.sh: it was removed since/)
  })
})

test("a matcher that would take for ever fits", () => {
  const fits = createMatcher("^(\\w+)*!$")
  assert.equal(fits(["mcp__a_server_with_a_long_name__and_a_tool_with_one"]), true)
})

for (const isAsync of [false, true])
  test(`a reviewed script that grew beyond the limit does not run (async: ${isAsync})`, async () => {
    const commands = {
      PreToolUse: { command: 'bash "$CLAUDE_PROJECT_DIR"/.vitamin/check.sh', async: isAsync },
      Notification: 'bash "$CLAUDE_PROJECT_DIR"/.vitamin/check.sh',
    }
    const files = { ".vitamin/check.sh": "true\n" }
    let grow = () => {}
    const second = () => {
      grow()
      return call("ls")
    }
    await withReviewed({ commands, files }, [second, () => text("ok")], async (world) => {
      grow = () => {
        world.tmp.write(".vitamin/check.sh", "touch ran\n#")
        truncateSync(join(world.tmp.path, ".vitamin/check.sh"), maxProgram + 1)
      }
      assert.equal(textOf(await world.ask("go", { asks })), "ok")
      const [result] = resultsOf(await world.messages())
      if (isAsync) assert.equal(result!.status, "success")
      else assert.match(String(result!.output), /was not run\. The hook "check\.sh" blocks it/)
      assert.ok(!existsSync(join(world.tmp.path, "ran")))
    })
  })

test("the name of the project's folder is no part of the shell's command", async () => {
  const commands = {
    UserPromptSubmit: `\${CLAUDE_PROJECT_DIR}/hook.sh; echo "\${VITAMIN_PROJECT_DIR}" > seen`,
  }
  await withHooks(commands, [text("ok")], async (world) => {
    const folder = join(world.tmp.path, "a;touch evil;b")
    mkdirSync(join(folder, ".git"), { recursive: true })
    writeFileSync(join(folder, ".git/HEAD"), "ref: refs/heads/main\n")
    const { Instance } = await import("#kernel/instance.ts")
    const { fire } = await import("#ability/hook/fire.ts")
    const { loadHooks } = await import("#ability/hook/load-hooks.ts")
    world.tmp.git("init", "-q", folder)
    await Instance.provide({
      directory: folder,
      async fn() {
        const { hooks } = await loadHooks()
        const input = { hook_event_name: "UserPromptSubmit" } as never
        await fire(hooks, { event: "UserPromptSubmit", input, signal: new AbortController().signal })
      },
    })
    assert.equal(readFileSync(join(folder, "seen"), "utf8").trim(), folder)
    assert.ok(!existsSync(join(folder, "evil")))
  })
})

for (const how of ["its time limit", "an abort"])
  test(`${how} also ends processes that left the hook's group`, async () => {
    const command = "setsid sh -c 'echo $$ > pid; exec sleep 100' > /dev/null 2>&1 & sleep 50"
    const timeout = how === "an abort" ? 60 : 4
    await withHooks({ PreToolUse: { command, timeout } }, [call("ls"), text("ok")], async (world) => {
      const file = join(world.tmp.path, "pid")
      const asked = world.ask("go", { asks }).catch(() => {})
      await until(() => existsSync(file) && readFileSync(file, "utf8").trim() !== "")
      if (how === "an abort") Session.abort(world.session.id)
      await asked
      const pid = Number(readFileSync(file, "utf8"))
      await until(() => !hasProcess(pid), `process ${pid} to end`)
    })
  })

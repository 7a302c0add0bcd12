// What hooks are told: every event with its fields, and the transcript.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { resultsOf, textOf } from "../session/harness.ts"
import { answer, decide, notedIn, noteIn, noticesOf, withHooks } from "./harness.ts"

const asks = "once" as const

test("hooks are told about the session, the prompt, the call, its result and the answer, in this order", async () => {
  const note = noteIn("log")
  const all = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"]
  const commands = Object.fromEntries(all.map((event) => [event, note]))
  await withHooks(
    commands,
    [call("write", { path: "a.txt", content: "x\n" }), text("done")],
    async (world) => {
      await world.ask("make a file", { asks })
      await Instance.dispose()
      const noted = notedIn(world, "log")
      assert.deepEqual(
        noted.map(({ hook_event_name }) => hook_event_name),
        all,
      )
      for (const input of noted) {
        assert.equal(input.session_id, world.session.id)
        assert.equal(input.cwd, world.tmp.path)
        assert.equal(input.permission_mode, "bypassPermissions")
        assert.ok(existsSync(input.transcript_path as string))
      }
      const [start, prompt, before, after, stop, end] = noted
      assert.equal(start!.source, "startup")
      assert.equal(prompt!.prompt, "make a file")
      const file_path = join(world.tmp.path, "a.txt")
      assert.deepEqual(
        [before!.tool_name, before!.tool_input, typeof before!.tool_use_id],
        ["Write", { file_path, content: "x\n" }, "string"],
      )
      assert.equal(after!.tool_use_id, before!.tool_use_id)
      assert.equal((after!.tool_response as { filePath: string }).filePath, file_path)
      assert.deepEqual([stop!.stop_hook_active, stop!.last_assistant_message], [false, "done"])
      assert.equal(end!.reason, "other")
    },
  )
})

test("a session that another process began is a resumed one, and the transcript has its messages", async () => {
  const commands = { SessionStart: noteIn("log"), Stop: 'cp "$(jq -r .transcript_path)" transcript' }
  await withHooks(
    commands,
    [text("one"), call("bash", { command: "echo hi" }), text("two")],
    async (world) => {
      await world.ask("first", { asks })
      const { path } = world.tmp
      await Instance.dispose()
      await Instance.provide({
        directory: path,
        fn: () => Session.prompt({ sessionId: world.session.id, text: "second", asks }),
      })
      assert.deepEqual(
        notedIn(world, "log").map(({ source }) => source),
        ["startup", "resume"],
      )
      const lines = notedIn(world, "transcript") as { type: string; message: { content: unknown } }[]
      assert.deepEqual(
        lines.map(({ type }) => type),
        ["user", "assistant", "user", "assistant", "user", "assistant"],
      )
      assert.equal(lines[0]!.message.content, "first")
      assert.deepEqual(lines[1]!.message.content, [{ type: "text", text: "one" }])
      const [made] = lines[3]!.message.content as { name: string; input: object }[]
      assert.deepEqual([made!.name, made!.input], ["Bash", { command: "echo hi" }])
      const [result] = lines[4]!.message.content as { type: string; content: string }[]
      assert.deepEqual([result!.type, result!.content], ["tool_result", "hi\n"])
    },
  )
})

test("context of SessionStart and UserPromptSubmit reaches the model and is reported", async () => {
  const commands = {
    SessionStart: "echo The release is on Friday.",
    UserPromptSubmit: answer({
      hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "The branch is main." },
    }),
  }
  await withHooks(commands, [text("ok"), text("ok")], async (world) => {
    await world.ask("when?")
    await world.ask("again")
    const sent = JSON.stringify(world.llm.requests[0]!.messages)
    assert.match(sent, /The release is on Friday\./)
    assert.match(sent, /The branch is main\./)
    const notices = noticesOf(world)
    assert.equal(notices.filter((line) => /\(SessionStart\) added context: The release/.test(line)).length, 1)
    assert.equal(notices.filter((line) => /\(UserPromptSubmit\) added context/.test(line)).length, 2)
  })
})

test("suppressOutput hides the line about added context, but not the context", async () => {
  const hidden = {
    suppressOutput: true,
    hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "quiet words" },
  }
  await withHooks({ UserPromptSubmit: answer(hidden) }, [text("ok")], async (world) => {
    await world.ask("go")
    assert.match(JSON.stringify(world.llm.requests[0]!.messages), /quiet words/)
    assert.deepEqual(noticesOf(world), [])
  })
})

test("a task has SubagentStart and SubagentStop in place of the events of a session", async () => {
  const note = noteIn("log")
  const events = ["SessionStart", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop"]
  const commands = Object.fromEntries(events.map((event) => [event, note]))
  const script = [call("subtask", { task: "look around", agent: "plan" }), text("seen"), text("done")]
  await withHooks(commands, script, async (world) => {
    await world.ask("go", { asks })
    const noted = notedIn(world, "log")
    assert.deepEqual(
      noted.map(({ hook_event_name }) => hook_event_name),
      events,
    )
    const [, , start, stop] = noted
    assert.equal(start!.agent_type, "plan")
    assert.equal(start!.session_id, world.session.id)
    assert.notEqual(start!.agent_id, world.session.id)
    assert.equal(stop!.last_assistant_message, "seen")
    assert.ok(readFileSync(stop!.agent_transcript_path as string, "utf8").includes("look around"))
  })
})

test("Notification tells that a person is asked, and its matcher is the type", async () => {
  const commands = {
    Notification: [
      { matcher: "permission_prompt", command: noteIn("asked") },
      { matcher: "idle_prompt", command: noteIn("idle") },
    ],
  }
  await withHooks(commands, [call("bash", { command: "touch a" }), text("done")], async (world) => {
    Bus.subscribe(Permission.Requested, ({ id }) => void Permission.reply(id, "once"))
    await world.ask("go")
    await until(() => notedIn(world, "asked").length)
    const [noted] = notedIn(world, "asked")
    assert.equal(noted!.notification_type, "permission_prompt")
    assert.match(noted!.message as string, /^Allow bash: .*touch a/)
    assert.deepEqual(notedIn(world, "idle"), [])
  })
})

test("PreCompact comes before a compaction by hand, may block it, and SessionStart follows with the source compact", async () => {
  const commands = {
    PreCompact: { command: `${noteIn("log")}; test ! -e block || { echo not now >&2; exit 2; }` },
    SessionStart: { matcher: "compact", command: "echo Remember the port 4000." },
  }
  const script = [...Array.from({ length: 6 }, (_, i) => text(`answer ${i} ${"word ".repeat(200)}`))]
  await withHooks(commands, [...script, text("a summary"), text("ok")], async (world) => {
    for (let i = 0; i < 6; i++) await world.ask(`question ${i}`)
    world.tmp.write("block", "")
    await assert.rejects(Session.compact(world.session.id), {
      name: "Hook.Blocked",
      message: /blocks it: not now/,
    })
    world.tmp.git("clean", "-fq", "block")
    await Session.compact(world.session.id)
    assert.deepEqual(
      notedIn(world, "log").map(({ trigger }) => trigger),
      ["manual", "manual"],
    )
    assert.equal(textOf(await world.ask("and now?")), "ok")
    assert.match(JSON.stringify(world.llm.requests.at(-1)!.messages), /Remember the port 4000/)
  })
})

test("PostToolUseFailure is told why a call failed, and what it says joins the result", async () => {
  const advice = decide("PostToolUseFailure", { additionalContext: "The file moved to docs." })
  const commands = { PostToolUse: noteIn("after"), PostToolUseFailure: [noteIn("log"), advice] }
  const script = [call("read", { path: "missing.txt" }), call("ls"), text("ok")]
  await withHooks(commands, script, async (world) => {
    await world.ask("go", { asks })
    const [failed, listed] = resultsOf(await world.messages())
    assert.equal(failed!.status, "error")
    assert.match(String(failed!.output), /missing\.txt[\s\S]*<hook>\nThe file moved to docs\.\n<\/hook>/)
    assert.equal(listed!.status, "success")
    const [told, ...more] = notedIn(world, "log")
    assert.deepEqual(more, [])
    const { tool_name, tool_input, error, is_interrupt } = told!
    const path = join(world.tmp.path, "missing.txt")
    assert.deepEqual([tool_name, tool_input, is_interrupt], ["Read", { file_path: path }, false])
    assert.match(String(error), /missing\.txt/)
    assert.equal(notedIn(world, "after").length, 1)
  })
})

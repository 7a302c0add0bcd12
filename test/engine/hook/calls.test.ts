// Hooks around calls: they block, ask, change arguments and add to results, and they never allow anything.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { call, calls, text } from "../../fixture/fake-llm.ts"
import { resultsOf, textOf, type World } from "../session/harness.ts"
import { answer, decide, notedIn, noteIn, noticesOf, withHooks } from "./harness.ts"

const asks = "once" as const
const bash = (command: string) => call("bash", { command })
const isMade = ({ tmp }: World, name: string) => existsSync(join(tmp.path, name))

async function outputsOf(world: World): Promise<string[]> {
  return resultsOf(await world.messages()).map(({ output }) => String(output))
}

test("exit code 2 blocks a call, stderr is the reason for the model, and the person is told", async () => {
  const commands = { PreToolUse: { matcher: "Bash", command: "echo no shell today >&2; exit 2" } }
  await withHooks(commands, [bash("touch a"), text("ok")], async (world) => {
    await world.ask("go", { asks })
    assert.match(
      (await outputsOf(world))[0]!,
      /^"bash" was not run\. The hook ".*" blocks it: no shell today/,
    )
    assert.ok(!isMade(world, "a"))
    assert.match(noticesOf(world)[0]!, /\(PreToolUse\) blocked bash: no shell today/)
  })
})

for (const [what, value] of Object.entries({
  "permissionDecision deny": {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: "never",
    },
  },
  "decision block": { decision: "block", reason: "never" },
  "a misspelt decision": {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "denied" },
    reason: "never",
  },
  "continue false": { continue: false, stopReason: "never" },
}))
  test(`${what} blocks a call`, () =>
    withHooks({ PreToolUse: answer(value) }, [bash("touch a"), text("ok")], async (world) => {
      await world.ask("go", { asks }).catch(() => {})
      assert.match((await outputsOf(world))[0]!, /was not run\. The hook .* never/)
      assert.ok(!isMade(world, "a"))
    }))

test("continue false ends the turn with its reason", async () => {
  const commands = { PostToolUse: answer({ continue: false, stopReason: "it is late" }) }
  await withHooks(commands, [bash("true"), text("never asked")], async (world) => {
    await assert.rejects(world.ask("go", { asks }), { name: "Hook.Stopped", message: /it is late/ })
    assert.equal(world.llm.requests.length, 1)
  })
})

test("a matcher selects tools by their name in other agents or here, as a list or a regular expression", async () => {
  const commands = {
    PreToolUse: ["Edit|Write", "write", "W.*e", "Read", "Bash", ""].map((matcher, i) => ({
      matcher,
      command: noteIn(`log${i}`),
    })),
  }
  await withHooks(commands, [call("write", { path: "a", content: "x" }), text("ok")], async (world) => {
    await world.ask("go", { asks })
    const counts = [0, 1, 2, 3, 4, 5].map((i) => notedIn(world, `log${i}`).length)
    assert.deepEqual(counts, [1, 1, 1, 0, 0, 1])
  })
})

test("if narrows a hook to calls that fit a rule, also inside a longer command", async () => {
  const commands = { PreToolUse: { matcher: "Bash", if: "Bash(git push *)", command: "exit 2" } }
  const script = [bash("git status"), bash("cd . && git push origin"), text("ok")]
  await withHooks(commands, script, async (world) => {
    await world.ask("go", { asks })
    const [first, second] = resultsOf(await world.messages())
    assert.equal(first!.status, "success")
    assert.match(String(second!.output), /was not run/)
  })
})

test("allow lifts neither a deny rule nor a question", async () => {
  const config = { permission: [{ permission: "bash.execute", pattern: "rm *", action: "deny" }] }
  const commands = {
    PreToolUse: decide("PreToolUse", { permissionDecision: "allow" }),
    PermissionRequest: decide("PermissionRequest", { decision: { behavior: "allow" } }),
  }
  await withHooks(
    commands,
    [bash("rm README.md"), bash("touch a"), text("ok")],
    async (world) => {
      await world.ask("go", { asks: "deny" })
      const [removed, touched] = await outputsOf(world)
      assert.match(removed!, /rule/)
      assert.match(touched!, /nobody|--yes/i)
      assert.ok(isMade(world, "README.md") && !isMade(world, "a"))
    },
    { config },
  )
})

test("deny beats ask, and ask beats allow", async () => {
  const decision = (permissionDecision: string) =>
    decide("PreToolUse", { permissionDecision, permissionDecisionReason: `says ${permissionDecision}` })
  const commands = { PreToolUse: ["allow", "ask", "deny"].map(decision) }
  await withHooks(commands, [call("ls"), text("ok")], async (world) => {
    await world.ask("go")
    assert.match((await outputsOf(world))[0]!, /blocks it: says deny/)
  })
  await withHooks({ PreToolUse: ["allow", "ask"].map(decision) }, [call("ls"), text("ok")], async (world) => {
    await world.ask("go", { asks: "deny" })
    assert.match((await outputsOf(world))[0]!, /wants a person to decide: says ask Nobody allowed it/)
  })
})

test("ask lets a person decide about a call that the rules allow", async () => {
  const ask = decide("PreToolUse", { permissionDecision: "ask", permissionDecisionReason: "really?" })
  for (const [reply, status] of [
    ["once", "success"],
    ["reject", "error"],
  ] as const)
    await withHooks({ PreToolUse: ask }, [call("ls"), text("ok")], async (world) => {
      const titles: string[] = []
      Bus.subscribe(Permission.Requested, ({ id, title }) => {
        titles.push(title)
        void Permission.reply(id, reply)
      })
      await world.ask("go")
      assert.match(titles.join(), /wants you to decide: really\? Allow ls\?/)
      assert.equal(resultsOf(await world.messages())[0]!.status, status)
    })
})

test("a call that the rules ask about is asked about once, although a hook asks too", async () => {
  const ask = decide("PreToolUse", { permissionDecision: "ask", permissionDecisionReason: "really?" })
  await withHooks({ PreToolUse: ask }, [bash("touch a"), text("ok")], async (world) => {
    let asked = 0
    Bus.subscribe(Permission.Requested, ({ id }) => {
      asked++
      void Permission.reply(id, "once")
    })
    await world.ask("go")
    assert.equal(asked, 1)
    assert.ok(isMade(world, "a"))
  })
})

test("PermissionRequest may refuse before a person is asked", async () => {
  const commands = {
    PermissionRequest: decide("PermissionRequest", {
      decision: { behavior: "deny", message: "not on main" },
    }),
  }
  await withHooks(commands, [call("ls"), bash("touch a"), text("ok")], async (world) => {
    let asked = 0
    Bus.subscribe(Permission.Requested, () => void asked++)
    await world.ask("go")
    const [listed, touched] = await outputsOf(world)
    assert.match(listed!, /README/)
    assert.match(touched!, /blocks it: not on main/)
    assert.equal(asked, 0)
  })
})

test("changed arguments are what runs, what is stored and what the model is told", async () => {
  const commands = {
    PreToolUse: decide("PreToolUse", { permissionDecision: "allow", updatedInput: { command: "touch b" } }),
  }
  await withHooks(commands, [bash("touch a"), text("ok")], async (world) => {
    await world.ask("go", { asks })
    assert.ok(isMade(world, "b") && !isMade(world, "a"))
    const messages = await world.messages()
    const request = messages.find(({ type }) => type === "tool_request")
    assert.deepEqual(request?.type === "tool_request" && request.data.calls[0]!.arguments, {
      command: "touch b",
    })
    assert.match(
      (await outputsOf(world))[0]!,
      /changed the arguments of this call to \{"command":"touch b"\}/,
    )
    assert.match(noticesOf(world)[0]!, /changed the arguments of bash/)
  })
})

test("changed arguments are judged by the rules again: a hook cannot turn a call into a denied one", async () => {
  const config = { permission: [{ permission: "bash.execute", pattern: "rm *", action: "deny" }] }
  const commands = {
    PreToolUse: decide("PreToolUse", {
      permissionDecision: "allow",
      updatedInput: { command: "rm README.md" },
    }),
  }
  await withHooks(
    commands,
    [bash("echo hi"), text("ok")],
    async (world) => {
      await world.ask("go", { asks })
      assert.match((await outputsOf(world))[0]!, /rule/)
      assert.ok(isMade(world, "README.md"))
    },
    { config },
  )
})

test("changed arguments are judged by the guards again", async () => {
  const config = { guards: { own: { block: "write:secret/**", because: "it is secret" } } }
  const updatedInput = { file_path: "secret/a.txt", content: "x" }
  const commands = { PreToolUse: decide("PreToolUse", { permissionDecision: "allow", updatedInput }) }
  await withHooks(
    commands,
    [call("write", { path: "a.txt", content: "x" }), text("ok")],
    async (world) => {
      await world.ask("go", { asks })
      assert.match((await outputsOf(world))[0]!, /it is secret/)
      assert.ok(!isMade(world, "secret/a.txt") && !isMade(world, "a.txt"))
    },
    { config },
  )
})

test("changed arguments that do not fit the tool are refused", async () => {
  const commands = { PreToolUse: decide("PreToolUse", { updatedInput: { comand: "touch b" } }) }
  await withHooks(commands, [bash("touch a"), text("ok")], async (world) => {
    await world.ask("go", { asks })
    assert.match((await outputsOf(world))[0]!, /"comand" is not a parameter; did you mean "command"/)
    assert.ok(!isMade(world, "a"))
  })
})

test("an edit is told as Edit or MultiEdit, and a changed one is applied", async () => {
  const rename = `jq -c '{hookSpecificOutput:{hookEventName:"PreToolUse",updatedInput:(.tool_input + {new_string:"4000"})}}'`
  const commands = {
    PreToolUse: [
      { matcher: "Edit", command: noteIn("log") },
      { matcher: "Edit", command: rename },
    ],
  }
  const edit = call("edit", { path: "README.md", edits: [{ oldText: "fixture", newText: "3000" }] })
  await withHooks(commands, [edit, text("ok")], async (world) => {
    await world.ask("go", { asks })
    const [{ tool_name, tool_input } = {}] = notedIn(world, "log")
    const file_path = join(world.tmp.path, "README.md")
    assert.equal(tool_name, "Edit")
    assert.deepEqual(tool_input, { file_path, old_string: "fixture", new_string: "3000" })
    assert.match(readFileSync(file_path, "utf8"), /4000/)
  })
})

test("PostToolUse adds its reason and its context to the result, and may replace the output", async () => {
  const commands = {
    PostToolUse: [
      { matcher: "LS", command: "echo The lint fails. >&2; exit 2" },
      { matcher: "LS", command: decide("PostToolUse", { additionalContext: "There are 3 more." }) },
      { matcher: "Bash", command: decide("PostToolUse", { updatedToolOutput: "[removed]" }) },
    ],
  }
  await withHooks(
    commands,
    [call("ls"), bash("printf '\\033[31msecret\\033[0m'"), text("ok")],
    async (world) => {
      await world.ask("go", { asks })
      const [listed, echoed] = await outputsOf(world)
      assert.match(listed!, /README[\s\S]*<hook>\nThe lint fails\.\nThere are 3 more\.\n<\/hook>/)
      assert.equal(echoed, "[removed]")
      assert.equal(
        resultsOf(await world.messages())[1]!.colors,
        undefined,
        "its colours belong to another text",
      )
    },
  )
})

test("hooks of calls that run in parallel do not wait for each other", async () => {
  // Each hook waits until the other one has begun.
  const meet = `touch "$(jq -r .tool_use_id)"; for i in $(seq 400); do [ "$(ls call_* | wc -l)" = 2 ] && exit; sleep 0.05; done; exit 2`
  const script = [calls([call("ls"), call("glob", { pattern: "*" })]), text("ok")]
  await withHooks({ PreToolUse: meet }, script, async (world) => {
    await world.ask("go", { asks })
    assert.deepEqual(
      resultsOf(await world.messages()).map(({ status }) => status),
      ["success", "success"],
    )
  })
})

test("Stop holds the answer back with a reason, tells the hook so, and the model goes on", async () => {
  const check = `cat >> log; [ -e tested ] || { echo Run the tests first. >&2; exit 2; }`
  await withHooks(
    { Stop: check },
    [text("done"), bash("touch tested"), text("really done")],
    async (world) => {
      assert.equal(textOf(await world.ask("go", { asks })), "really done")
      assert.deepEqual(
        notedIn(world, "log").map(({ stop_hook_active }) => stop_hook_active),
        [false, true],
      )
      assert.match(
        JSON.stringify(world.llm.requests[1]!.messages),
        /Your answer is held back.*Run the tests first/,
      )
    },
  )
})

test("a Stop hook that blocks for ever is not heard after eight times", async () => {
  await withHooks(
    { Stop: "exit 2" },
    () => text("done"),
    async (world) => {
      assert.equal(textOf(await world.ask("go")), "done")
      assert.equal(world.llm.requests.length, 9)
      assert.match(noticesOf(world).at(-1)!, /failed: it held the answer back 8 times/)
      assert.equal(await world.status(), "idle")
    },
  )
})

test("UserPromptSubmit blocks a prompt: nothing is sent or stored, and the next prompt works", async () => {
  const commands = {
    UserPromptSubmit: "jq -e '.prompt | contains(\"sk-\") | not' >/dev/null || { echo a key >&2; exit 2; }",
  }
  await withHooks(commands, [text("ok")], async (world) => {
    await assert.rejects(world.ask("use sk-123"), { name: "Hook.Blocked", message: /a key/ })
    assert.equal(world.llm.requests.length, 0)
    assert.deepEqual(await world.messages(), [])
    assert.equal(textOf(await world.ask("hello")), "ok")
  })
})

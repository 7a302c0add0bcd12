// Hooks that hang, crash, flood or print garbage: each is bounded and named, and the turn goes on. And files of hooks that
// nobody has reviewed.
import assert from "node:assert/strict"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { hasProcess } from "#util/process.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { inWorld, resultsOf, textOf, type World } from "../session/harness.ts"
import { hooksJson, notedIn, noteIn, noticesOf, withHooks, withReviewed } from "./harness.ts"

const asks = "once" as const

/** A process that a hook noted, which must be gone. */
async function isGone({ tmp }: World, name: string): Promise<void> {
  const pid = Number(readFileSync(join(tmp.path, name), "utf8"))
  await until(() => !hasProcess(pid), `process ${pid} to end`)
}

for (const [what, command, expected] of [
  ["ends with another exit code", "echo oops >&2; exit 1", /failed: it ended with exit code 1: oops/],
  ["crashes", "kill -SEGV $$", /failed: it was ended by SIGSEGV/],
  ["does not exist", "/no/such/hook", /failed: it ended with exit code 127: .*No such file/],
  ["prints garbage", "printf '{not json'", /failed: its output begins like JSON but is none: \{not json/],
  [
    "prints JSON of another event",
    `printf '{"hookSpecificOutput":{"hookEventName":"Stop"}}'`,
    /is for "Stop"/,
  ],
  // With a first byte that does not begin like JSON.
  ["prints bytes that are no text", "printf '\\377'; head -c 2000 /dev/urandom", undefined],
  ["does not read its input", "exec 0<&-; true", undefined],
] as const)
  test(`a hook that ${what} is named and blocks nothing`, () =>
    withHooks({ PreToolUse: command }, [call("ls"), text("ok")], async (world) => {
      assert.equal(textOf(await world.ask("go", { asks })), "ok")
      assert.equal(resultsOf(await world.messages())[0]!.status, "success")
      const [line] = noticesOf(world)
      if (expected) assert.match(line ?? "", expected)
      else assert.equal(line, undefined)
    }))

test("a hook that hangs is ended at its time limit, with all that it started", async () => {
  const command = "sleep 100 & echo $! > pid; trap '' TERM; while :; do sleep 1; done"
  await withHooks({ PreToolUse: { command, timeout: 3 } }, [call("ls"), text("ok")], async (world) => {
    await world.ask("go", { asks })
    assert.match(noticesOf(world)[0]!, /failed: it did not end within 3 s, and was ended/)
    await isGone(world, "pid")
  })
})

test("an abort ends a hook that runs, with all that it started", async () => {
  const command = "sleep 100 & echo $! > pid; wait"
  await withHooks({ PreToolUse: command }, [call("ls"), text("ok")], async (world) => {
    const asked = world.ask("go", { asks })
    const rejected = assert.rejects(asked, { name: "Session.Interrupted" })
    const file = join(world.tmp.path, "pid")
    await until(() => existsSync(file) && readFileSync(file, "utf8"))
    Session.abort(world.session.id)
    await rejected
    await isGone(world, "pid")
    assert.equal(await world.status(), "interrupted")
  })
})

test("a hook that floods its output is read to its end, and only a bounded part is kept", async () => {
  const commands = { UserPromptSubmit: "head -c 50000000 /dev/zero | tr '\\0' x" }
  await withHooks(commands, [text("ok")], async (world) => {
    assert.equal(textOf(await world.ask("go")), "ok")
    const sent = JSON.stringify(world.llm.requests[0]!.messages)
    assert.ok(sent.includes("xxxx") && sent.length < 40_000, `${sent.length}`)
  })
})

test("a process that a hook leaves in the background, with the output open, does not hold up the turn", async () => {
  await withHooks({ PreToolUse: "sleep 30 & echo $! > pid" }, [call("ls"), text("ok")], async (world) => {
    assert.equal(textOf(await world.ask("go", { asks })), "ok")
    process.kill(Number(readFileSync(join(world.tmp.path, "pid"), "utf8")))
  })
})

test("onFailure block: a failure counts as a block", async () => {
  const commands = { PreToolUse: { command: "exit 1", onFailure: "block" } }
  await withHooks(commands, [call("ls"), text("ok")], async (world) => {
    await world.ask("go", { asks })
    assert.match(String(resultsOf(await world.messages())[0]!.output), /blocks it: it failed: .*exit code 1/)
  })
})

test("an async hook is not waited for", async () => {
  const command = "while [ ! -e over ]; do sleep 0.05; done; touch ended"
  await withHooks({ PreToolUse: { command, async: true } }, [call("ls"), text("ok")], async (world) => {
    assert.equal(textOf(await world.ask("go", { asks })), "ok")
    world.tmp.write("over", "")
    await until(() => existsSync(join(world.tmp.path, "ended")))
  })
})

test("hooks do not get our keys, and what they print is redacted", async () => {
  const secret = "canary-0123456789abcdef"
  const commands = { UserPromptSubmit: `env | grep -c '${secret}'; echo 'it is ${secret}'` }
  await withHooks(
    commands,
    [text("ok")],
    async (world) => {
      Secret.register(secret, "a test")
      await world.ask("go")
      const sent = JSON.stringify(world.llm.requests[0]!.messages)
      assert.match(sent, /<hook>\\n0\\nit is /)
      assert.ok(!sent.includes(secret))
    },
    { variables: { MY_SETTING: secret } },
  )
})

test("a broken file of hooks is named, and entries that cannot be used do not affect the others", async () => {
  const unusable = {
    hooks: {
      PreToolUse: [
        { matcher: "(", hooks: [{ type: "command", command: "x" }] },
        { hooks: [{ type: "prompt" }] },
      ],
      PreTooluse: [],
      UserPromptSubmit: [{ hooks: [{ type: "command", command: "echo still here" }] }],
    },
  }
  await inWorld([text("ok")], async (world) => {
    world.tmp.write(".vitamin/hooks.json", JSON.stringify(unusable))
    await Trust.grant(world.tmp.path)
    await world.ask("go")
    assert.match(JSON.stringify(world.llm.requests[0]!.messages), /still here/)
    const log = readFileSync(join(world.tmp.path, "..", "log"), "utf8")
    assert.match(log, /PreToolUse\[0\]\.hooks\[0\]: Invalid regular expression/)
    assert.match(log, /PreToolUse\[1\]\.hooks\[0\]: a hook of the type "prompt" cannot be used here/)
    assert.match(log, /hooks\.PreTooluse: there is no such event here; did you mean "PreToolUse"/)
  })
})

test("hooks of a folder that nobody trusts do not run, and are named", async () => {
  await inWorld([text("ok")], async (world) => {
    world.tmp.write(".vitamin/hooks.json", hooksJson({ UserPromptSubmit: "touch ran" }))
    await world.ask("go")
    assert.ok(!existsSync(join(world.tmp.path, "ran")))
    assert.match(
      readFileSync(join(world.tmp.path, "..", "log"), "utf8"),
      /hooks\.json: its hooks are not used: the folder is not trusted/,
    )
  })
})

test("a changed or removed file keeps the hooks that were reviewed: a command cannot end them", async () => {
  const block = { PreToolUse: { matcher: "LS", command: "exit 2" } }
  const empty = JSON.stringify({
    hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: "touch ran" }] }] },
  })
  await withReviewed(
    { commands: block },
    [text("1"), call("ls"), text("2"), call("ls"), text("3")],
    async (world) => {
      await world.ask("go", { asks })
      world.tmp.write(".vitamin/hooks.json", empty)
      await world.ask("go", { asks })
      rmSync(join(world.tmp.path, ".vitamin/hooks.json"))
      await world.ask("go", { asks })
      const results = resultsOf(await world.messages()).map(({ output }) => String(output))
      assert.equal(results.filter((one) => /was not run/.test(one)).length, 2)
      assert.ok(!existsSync(join(world.tmp.path, "ran")))
    },
  )
})

test("a script that changed since its review does not run, and the calls that it judges are blocked", async () => {
  const commands = {
    PreToolUse: { matcher: "LS", command: 'bash "$CLAUDE_PROJECT_DIR"/.vitamin/check.sh' },
    PostToolUse: { command: `\${CLAUDE_PROJECT_DIR}/tools/after.sh` },
  }
  const files = { ".vitamin/check.sh": noteIn("log"), "tools/after.sh": "#!/bin/bash\ntrue\n" }
  let change = () => {}
  const second = () => {
    change()
    return call("ls")
  }
  await withReviewed({ commands, files }, [() => call("ls"), second, () => text("ok")], async (world) => {
    const pending = await Trust.pending(world.tmp.path)
    assert.deepEqual(pending, [])
    world.tmp.write("tools/after.sh", "#!/bin/bash\ntouch ran\n")
    change = () => void world.tmp.write(".vitamin/check.sh", "touch ran")
    await world.ask("go", { asks })
    assert.equal(notedIn(world, "log").length, 1)
    const [, second] = resultsOf(await world.messages())
    assert.match(
      String(second!.output),
      /blocks it: it was not run: it runs \.vitamin\/check\.sh: it changed since/,
    )
    assert.ok(
      noticesOf(world).some((line) => /\(PostToolUse\) failed: .* it runs tools\/after\.sh/.test(line)),
    )
    assert.ok(!existsSync(join(world.tmp.path, "ran")))
  })
})

for (const [name, gone] of [
  ["a module", "tools/rules.mjs"],
  ["a folder of modules", "tools/more"],
] as const)
  test(`a script whose import of ${name} was removed does not run, and the calls that it judges are blocked`, async () => {
    const commands = { PreToolUse: { matcher: "LS", command: "node tools/check.mjs" } }
    const files = {
      "tools/check.mjs":
        'import "./rules.mjs"\nimport { createRequire } from "node:module"\nrequire("./more")\n',
      "tools/rules.mjs": "export const rules = []\n",
      "tools/more/index.js": "module.exports = {}\n",
    }
    const script = [call("ls"), text("ok")]
    await withReviewed({ commands, files }, script, async (world) => {
      rmSync(join(world.tmp.path, gone), { recursive: true })
      await world.ask("go", { asks })
      const [result] = resultsOf(await world.messages())
      assert.match(
        String(result!.output),
        /blocks it: it was not run: it runs tools\/\S+: it was removed since/,
      )
    })
  })

test("a decision that is too long to be read blocks", async () => {
  const flood = `printf '{"decision":"block","reason":"'; head -c 400000 /dev/zero | tr '\\0' x; printf '"}'`
  await withHooks({ PreToolUse: flood }, [call("ls"), text("ok")], async (world) => {
    await world.ask("go", { asks })
    const [result] = resultsOf(await world.messages())
    assert.match(String(result!.output), /blocks it: its answer was too long to be read/)
  })
})

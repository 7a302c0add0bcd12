// The tool `run`: runs a prompt for a client, with progress, cancellation and continued sessions.
import assert from "node:assert/strict"
import { existsSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { whyNot } from "../../ability/sandbox/world.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, stall, status, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { resultsIn } from "../sandbox/harness.ts"
import { eras, namesOf, overHttp, overStdio, textOf } from "./harness.ts"

type Structured = { sessionId: string; text: string }

for (const era of eras)
  test(`run returns text and session id, reports progress, and continues a session (${era})`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([
      call("read", { path: "README.md" }),
      text("It is a fixture."),
      text("As I said."),
    ])
    await using served = await overStdio(tmp, { era, env: env(llm, "chat").variables })
    const { client } = served
    const told: string[] = []
    const onprogress = ({ message }: { message?: string }) => void told.push(message!)
    const first = await client.callTool({ name: "run", arguments: { prompt: "What is it?" } }, { onprogress })
    assert.equal(textOf(first), "It is a fixture.")
    const { sessionId } = first.structuredContent as Structured
    assert.deepEqual(first.structuredContent, { sessionId, text: "It is a fixture." })
    await until(() => told.length === 2, "all progress has come")
    assert.match(told.join("\n"), new RegExp(`^session ${sessionId}\n· read README\\.md`))
    const second = await client.callTool({ name: "run", arguments: { prompt: "Sure?", session: sessionId } })
    assert.equal((second.structuredContent as Structured).sessionId, sessionId)
    assert.match(JSON.stringify(llm.requests[2]!.body), /What is it\?.*It is a fixture\..*Sure\?/)
  })

test("run obeys the rules, attaches no file for @path, and reports errors", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("secret.txt", "hidden words\n")
  await using llm = await fakeLlm([
    call("write", { path: "new.txt", content: "x" }),
    text("I may not."),
    status(400, { message: "no such thing" }),
  ])
  await using served = await overStdio(tmp, { env: env(llm, "chat").variables })
  const { client } = served
  const refused = await client.callTool({ name: "run", arguments: { prompt: "Change @secret.txt" } })
  assert.equal(textOf(refused), "I may not.")
  assert.doesNotMatch(JSON.stringify(llm.requests[0]!.body), /hidden words/)
  assert.match(JSON.stringify(llm.requests[1]!.body), /nobody can be asked here/)
  assert.equal(existsSync(join(tmp.path, "new.txt")), false)
  const wrong: [unknown, RegExp][] = [
    [{ prompt: "go" }, /no such thing.*\(session sess_/s],
    [{ prompt: " " }, /The arguments of "run" are wrong: .*prompt/s],
    [{ prompt: "go", extra: 1 }, /extra/],
    [{ prompt: "go", session: "sess_none" }, /Session sess_none does not exist/],
    [{ prompt: "go", agent: "nobody" }, /nobody/],
  ]
  for (const [args, message] of wrong) {
    const result = await client.callTool({ name: "run", arguments: args as Record<string, unknown> })
    assert.equal(result.isError, true)
    assert.match(textOf(result), message)
  }
})

test("run refuses a session of another project", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("one"), text("two")])
  const folders = [await folder(tmp, "one"), await folder(tmp, "two")]
  const variables = env(llm, "chat").variables
  await using first = await overStdio(tmp, { args: ["--dir", folders[0]!], env: variables })
  const result = await first.client.callTool({ name: "run", arguments: { prompt: "hello" } })
  const { sessionId } = result.structuredContent as Structured
  await using second = await overStdio(tmp, { args: ["--dir", folders[1]!], env: variables })
  const foreign = { name: "run", arguments: { prompt: "what was said?", session: sessionId } }
  assert.match(textOf(await second.client.callTool(foreign)), /does not exist/)
  assert.equal(llm.requests.length, 1)
})

for (const era of eras)
  test(`a cancelled run is interrupted, and the next run works (${era})`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([
      stall(text("never"), 10),
      text("Here."),
      stall(text("never"), 10),
      text("Here."),
    ])
    const variables = env(llm, "chat").variables
    await using served = await overStdio(tmp, { era, env: variables })
    await giveUpAndGoOn(tmp, served.client, () => llm.requests.length === 1)
    await using http = await overHttp(tmp, { env: variables })
    await giveUpAndGoOn(tmp, await http.client({ era }), () => llm.requests.length === 3)
  })

async function giveUpAndGoOn(
  tmp: Tmp,
  client: Awaited<ReturnType<typeof overStdio>>["client"],
  isAsked: () => boolean,
): Promise<void> {
  const over = new AbortController()
  let session = ""
  const given = client.callTool(
    { name: "run", arguments: { prompt: "wait" } },
    {
      signal: over.signal,
      onprogress: ({ message }) => {
        session ||= message!.split(" ")[1]!
      },
    },
  )
  await until(isAsked, "the model is asked")
  await until(() => session, "the session is known")
  over.abort()
  await assert.rejects(given)
  await until(async () => {
    const { out } = await vitamin(tmp, ["session", "show", session, "--format", "json"])
    return JSON.parse(out).session.status === "interrupted"
  }, "the session is interrupted")
  const next = await client.callTool({ name: "run", arguments: { prompt: "go on", session } })
  assert.equal(textOf(next), "Here.")
}

/** A separate project below the folder. */
async function folder(tmp: Tmp, name: string): Promise<string> {
  tmp.write(`${name}/a.txt`, name)
  const path = join(tmp.path, name)
  tmp.git("-C", path, "init", "-q")
  tmp.git("-C", path, "add", "-A")
  tmp.git("-C", path, "commit", "-qm", name)
  return path
}

for (const era of eras)
  test(`with a sandbox in the configuration only run is offered, which works inside (${era})`, {
    skip: whyNot("user") ?? false,
  }, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([call("bash", { command: "readlink /proc/self/ns/net" }), text("Done.")])
    await using served = await overStdio(tmp, {
      era,
      args: ["--yes"],
      env: {
        ...env(llm, "chat").variables,
        VITAMIN_CONFIG: JSON.stringify({ adapters: { sandbox: { enabled: true } } }),
      },
    })
    const { client } = served
    assert.deepEqual(await namesOf(client), ["run"])
    for (const name of ["bash", "write", "read"])
      await assert.rejects(client.callTool({ name, arguments: { command: "touch here", path: "here" } }), {
        code: -32602,
        message: `Tool "${name}" is not offered outside of the sandbox of the configuration. Available: run`,
      })
    assert.equal(existsSync(join(tmp.path, "here")), false)
    assert.equal(textOf(await client.callTool({ name: "run", arguments: { prompt: "go" } })), "Done.")
    const [inside] = resultsIn(llm)
    assert.match(inside!, /^net:\[\d+\]/)
    assert.ok(!inside!.startsWith(readlinkSync("/proc/self/ns/net")), inside)
  })

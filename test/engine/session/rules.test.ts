// A project's rules in requests to the model: the root's from the start, a linked document with a prompt about it,
// those of a subfolder after a file in it was touched.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, type Request, text } from "../../fixture/fake-llm.ts"
import { inWorld } from "./harness.ts"

/** How often a request contains a text. */
function times(request: Request | undefined, words: string): number {
  return (request?.raw ?? "").split(words).length - 1
}

const sent = (request: Request | undefined) => (request?.body.messages ?? []) as unknown[]

const nested = "Never log a token."
const linked = "Releases go out on Tuesdays."

test("the rules of a folder are sent once, with the request after the folder was touched", async () => {
  const script = [
    call("read", { path: "src/auth/login.ts" }),
    call("edit", { path: "src/auth/login.ts", edits: [{ oldText: "one", newText: "two" }] }),
    text("Done."),
    text("Nothing else."),
  ]
  await inWorld(script, async ({ tmp, llm, ask, messages }) => {
    tmp.write("AGENTS.md", "Use tabs.")
    tmp.write("src/auth/AGENTS.md", nested)
    tmp.write("src/auth/login.ts", "one\n")
    await ask("Change one to two in the login.", { asks: "once" })
    await ask("Is there anything else?")
    assert.deepEqual(
      llm.requests.map((request) => times(request, nested)),
      [0, 1, 1, 1],
    )
    const stored = (await messages()).filter((message) => message.type === "text" && message.data.origin)
    assert.deepEqual(
      stored.map((message) => message.type === "text" && message.data.origin),
      [{ kind: "rule", name: "src/auth/AGENTS.md" }],
    )
  })
})

test("a prompt about deploying is sent with the document about it, and another prompt without it", async () => {
  await inWorld([text("Hello."), text("On Tuesdays."), text("As I said.")], async ({ tmp, llm, ask }) => {
    tmp.write("AGENTS.md", "- [How to deploy and release](docs/deploy.md)\n- [Testing](docs/testing.md)\n")
    tmp.write("docs/deploy.md", `# Deploying\n\n${linked} Promote staging to production.\n`)
    tmp.write("docs/testing.md", "# Testing\n\nEvery bug fix starts with a failing test.\n")
    await ask("Hello!")
    await ask("When do we deploy the next release to production?")
    await ask("And how do we deploy it to production?")
    assert.deepEqual(
      llm.requests.map((request) => times(request, linked)),
      [0, 1, 1],
    )
    assert.equal(times(llm.requests.at(-1), "failing test"), 0)
  })
})

test("messages before added rules stay unchanged, so that prompt caches stay valid", async () => {
  const script = [call("read", { path: "src/a.ts" }), text("Done."), text("Again.")]
  await inWorld(script, async ({ tmp, llm, ask }) => {
    tmp.write("AGENTS.md", "- [How to deploy and release](docs/deploy.md)\n")
    tmp.write("docs/deploy.md", `# Deploying\n\n${linked}\n`)
    tmp.write("src/AGENTS.md", nested)
    tmp.write("src/a.ts", "one\n")
    await ask("Look at src/a.ts, please.")
    await ask("How do we deploy a release?")
    for (const [i, request] of llm.requests.entries()) {
      const before = sent(llm.requests[i - 1])
      assert.deepEqual(sent(request).slice(0, before.length), before)
    }
    assert.equal(times(llm.requests.at(-1), linked), 1)
    assert.equal(times(llm.requests.at(-1), nested), 1)
  })
})

test("the root's instructions are not sent if they, or the target of their link, may not be read", async () => {
  await inWorld([text("Hello."), text("Hello."), text("Hello.")], async ({ tmp, llm, ask }) => {
    tmp.write("notes/private.md", "The launch is in May.")
    symlinkSync("notes/private.md", join(tmp.path, "AGENTS.md"))
    const deny = (pattern: string) => ({
      rules: [{ permission: "file.read", pattern, action: "deny" as const }],
    })
    await ask("Hi")
    await ask("Hi", deny("notes/**"))
    await ask("Hi", deny("AGENTS.md"))
    assert.deepEqual(
      llm.requests.map((request) => times(request, "in May")),
      [1, 0, 0],
    )
  })
})

test("a document that the rules of a subfolder link to is sent when the model works there, and with later prompts", async () => {
  const script = [
    call("read", { path: "src/auth/login.ts" }),
    text("Read."),
    text("On Tuesdays."),
    text("Hi."),
  ]
  await inWorld(script, async ({ tmp, llm, ask }) => {
    tmp.write("AGENTS.md", "Use tabs.")
    tmp.write(
      "src/auth/AGENTS.md",
      "- [Session tokens](notes/tokens.md)\n- [Password hashing](notes/hashing.md)\n",
    )
    tmp.write(
      "src/auth/notes/tokens.md",
      "# Session tokens\n\nTOKENS LIVE FOR AN HOUR. Session tokens expire.\n",
    )
    tmp.write("src/auth/notes/hashing.md", "# Password hashing\n\nHASH WITH ARGON. Passwords are hashed.\n")
    tmp.write("src/auth/login.ts", "one\n")
    await ask("How long do session tokens live in src/auth/login.ts?")
    await ask("Which password hashing do we use?")
    await ask("Hello!")
    assert.deepEqual(
      llm.requests.map((request) => [times(request, "FOR AN HOUR"), times(request, "WITH ARGON")]),
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [1, 1],
      ],
    )
  })
})

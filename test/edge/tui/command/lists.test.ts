// Commands that choose from a list, and completion, typed into the real terminal.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, officialServer } from "../../../ability/mcp/servers.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, text } from "../../../fixture/fake-llm.ts"
import { enter, esc, isReady, openChat } from "./harness.ts"

const skill = "---\nname: greet\ndescription: Greets people. Use when somebody says hello.\n---\nSay hello.\n"

test("/new, /sessions, /fork, /mode, /agent, /model and /permissions work on the session", async () => {
  const script = [
    call("bash", { command: "touch one" }),
    text("About apples."),
    text("About pears."),
    text("More apples."),
  ]
  await using chat = await openChat(script, { args: ["tell me of apples"] })
  const { terminal, llm, enters } = chat
  await terminal.sees("Run this command?")
  terminal.type("a")
  await terminal.sees(/always allow/)
  terminal.type(enter)
  await terminal.sees(/About apples\..*^ask · /ms)
  await enters("/permissions", /Always allowed: choose one to revoke it \(1\).*› bash\.execute:touch one/s)
  terminal.type(enter)
  await terminal.sees("nothing is always allowed here")
  await enters("/new", "your next prompt begins a new session")
  await enters("tell me of pears", /About pears\..*^ask · /ms)
  assert.doesNotMatch(JSON.stringify(llm.requests.at(-1)!.body), /apples/)
  await enters("/sessions", /Sessions \(2\).*tell me of pears.*About pears/s)
  terminal.type("apples")
  await terminal.sees(/Sessions \(1 of 2\).*> tell me of apples\n {2}About apples\./s)
  terminal.type(enter)
  await terminal.misses(/Sessions \(/)
  await enters("/fork", "this is the copy, sess_")
  await enters("go on", /More apples\..*^ask · /ms)
  assert.match(JSON.stringify(llm.requests.at(-1)!.body), /tell me of apples.*About apples.*go on/)
  await enters("/mode plan", /^plan · /m)
  await enters("/mode", /› plan/)
  terminal.type(`edits${enter}`)
  await terminal.sees(/^accept edits · /m)
  await enters("/mode none", '"none" is not one of: ask, accept edits, plan')
  await enters("/agent plan", "plan does the work from the next prompt on")
  await enters("/agent nobody", 'Agent "nobody" does not exist')
  await enters("/model", /Model \(\d+\) \n› openai\/fake-model +\n.*openai\/gpt/s)
  terminal.type(`rules${enter}`)
  await terminal.sees("local/rules answers from the next prompt on")
  await terminal.sees(/^accept edits · local\/rules .*plan · /m)
})

test("/ completes commands, skills and MCP prompts; /mcp and /skills act; a wrong name gets a hint", async () => {
  await using chat = await openChat([text("Hello you.")], {
    async prepare(tmp) {
      tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
      tmp.write(".vitamin/skills/greet/SKILL.md", skill)
      assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
    },
  })
  const { terminal, llm, enters } = chat
  await terminal.sees(isReady)
  terminal.type("/un")
  await terminal.sees(/> \/un\n› undo/)
  terminal.type(`\t`)
  await terminal.sees("> /undo ")
  terminal.type(enter)
  await terminal.sees("✗ There is no session yet")
  await enters("/mcp", /MCP servers.*› everything +idle/s)
  terminal.type(enter)
  await terminal.sees(/› everything +connected, \d+ tools/)
  terminal.type(esc)
  await terminal.misses(/MCP servers/)
  terminal.type("/simple")
  await terminal.sees(/› everything:simple-prompt/)
  terminal.type("\u0015")
  await enters("/gret", "there is no command /gret; did you mean /greet?")
  await terminal.sees("> /gret")
  terminal.type("\u0015")
  await enters("/resume", "there is no command /resume; did you mean /sessions?")
  terminal.type("\u0015")
  await enters("/skills", /Skills \(1\).*› greet +Greets people/s)
  terminal.type(enter)
  await terminal.sees("> /greet ")
  terminal.type(`me${enter}`)
  await terminal.sees("Hello you.")
  assert.match(JSON.stringify(llm.requests[0]!.body), /Say hello\./)
  terminal.type("see @read")
  await terminal.sees(/> see @read\n› README\.md/)
})

test("arguments of commands are completed: by their start, by letters, and by what describes them", async () => {
  await using chat = await openChat([text("Red.")], {
    args: ["tell me of apples"],
    async prepare(tmp) {
      tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
      tmp.write(".vitamin/skills/greet/SKILL.md", skill)
      assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
    },
  })
  const { terminal, enters } = chat
  await terminal.sees(/Red\..*^ask · /ms)
  const ctrlU = "\u0015"
  for (const [typed, sees] of [
    ["/model gp", /\n› openai\/gpt/],
    ["/model rls", /\n› local\/rules/],
    ["/agent pl", /\n› plan {2}/],
    ["/mode edits", /\n› accept edits\n/],
    ["/theme lt", /\n› light\n/],
    ["/sessions apples", /\n› sess_\w{8} {2}tell me of apples\n/],
    ["/mcp ev", /\n› everything {2}\w+/],
    ["/skills hello", /\n› greet {2}Greets people/],
    ["/branch mn", /\n› main {2}\d messages\n/],
    ["/export notes", /\n› notes\.md {4}Markdown\n {2}notes\.json {2}JSON that can be imported\n/],
  ] as const) {
    terminal.type(ctrlU + typed)
    await terminal.sees(sees)
  }
  terminal.type(`${ctrlU}/mode edits`)
  await terminal.sees(/\n› accept edits\n/)
  terminal.type(enter)
  await terminal.sees(/^accept edits · /m)
  await enters("/new", "your next prompt begins a new session")
  terminal.type("/sessions apples")
  await terminal.sees(/\n› sess_/)
  terminal.type(enter)
  await terminal.sees(/tell me of apples\n\nRed\..*tell me of apples\n\nRed\./s)
  await enters("/sessions sess_none", 'There is no session "sess_none".')
})

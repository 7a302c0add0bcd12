// A whole session in a terminal with server-everything, over stdio and over HTTP: the agent gets a prompt and a
// resource of the server and calls its tool, and the person answers its questions, in a form and by opening an
// address.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openTerminal, type Terminal } from "../../fixture/terminal.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { everythingOverHttp, mcpJson, officialServer } from "./servers.ts"

const transports = {
  stdio: async () => ({ server: officialServer("everything"), async [Symbol.asyncDispose]() {} }),
  http: everythingOverHttp,
}
const choice = /\[a\]ccept, \[d\]ecline, \[c\]ancel: $/

for (const [name, start] of Object.entries(transports))
  test(`a session uses a prompt, a resource, a tool and questions of server-everything over ${name}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using started = await start(tmp)
    tmp.write(".mcp.json", mcpJson({ everything: started.server }))
    assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
    const known = await vitamin(tmp, ["mcp", "test", "everything"])
    assert.equal(known.code, 0, known.out + known.err)
    const url = "https://example.test/sign-in?id=1"
    await using llm = await fakeLlm([
      call("everything_get-sum", { a: 20, b: 22 }),
      call("everything_trigger-elicitation-request", {}),
      call("everything_trigger-url-elicitation", { url, message: "Sign in" }),
      text("All done."),
    ])
    const prompt = ["--prompt", "everything/args-prompt", "city=Oslo"]
    const words = "and get the sum of two numbers, as @everything:demo://resource/dynamic/text/7 says"
    await using terminal = openTerminal(tmp, ["run", "--allow", "mcp.call:everything/*", ...prompt, words], {
      env: env(llm, "chat").variables,
    })
    await terminal.sees(choice)
    terminal.type("a\n")
    await fillIn(terminal, { name: "Ada Lovelace", check: "yes", integer: "13" })
    await terminal.sees(/Sign in\n {2}https:\/\/example\.test\/sign-in\?id=1\n.*\n\[a\].*\[c\]ancel: $/)
    terminal.type("a\n")
    assert.equal(await terminal.exit, 0, terminal.shown())
    assert.match(terminal.shown(), /All done\./)

    assert.equal(llm.requests.length, 4)
    const [asked, summed, filled, visited] = llm.requests.map(({ body }) => JSON.stringify(body))
    assert.match(asked!, /What's weather in Oslo\?/)
    assert.match(asked!, /<resource server=.{1,4}everything.*Resource 7: This is a plaintext resource/)
    assert.match(asked!, /"everything_get-sum"/)
    assert.doesNotMatch(asked!, /20 and 22/)
    assert.match(summed!, /The sum of 20 and 22 is 42/)
    assert.match(filled!, /- Name: Ada Lovelace.*Agreed to terms: true.*Favorite Integer: 13/s)
    assert.match(visited!, /User completed the URL elicitation flow.*example\.test\/sign-in\?id=1/)
  })

/** Type into every field what is given, and into the others nothing, as it asks for them. */
async function fillIn(terminal: Terminal, given: Record<string, string>) {
  const names = /It wants to know: (.*)\n/.exec(terminal.shown())![1]!.split(", ")
  for (const name of names) {
    await terminal.sees(new RegExp(`\\n {2}${name}( .*)?: $`))
    terminal.type(`${given[name] ?? ""}\n`)
  }
}

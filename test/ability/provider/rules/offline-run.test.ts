// `vitamin run` as a person starts it on a machine without any key.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { ollama } from "../../../fixture/ollama.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { fillTeaShop, snapshot } from "./tea-shop.ts"

const keyless = { VITAMIN_MODEL: "" }

function fill(tmp: Tmp) {
  const lines = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => `// ${name} ${i + 1}\n`).join("")
  tmp.write("src/large.ts", lines("large", 90))
  tmp.write("src/deep/small.ts", lines("small", 12))
  tmp.write("other.ts", "// not under src\n")
}

test("vitamin run without a key lists files and shows lines of the smallest, and says which model that was", async () => {
  await using tmp = await tmpdir({ git: true })
  fill(tmp)
  const request = "list the TypeScript files under src and show the first 10 lines of the smallest"
  const { code, out, err } = await vitamin(tmp, ["run", request], keyless)
  assert.equal(code, 0, err)
  assert.match(
    err,
    /^vitamin: no model is configured: using the built-in offline model local\/rules; .*VITAMIN_MODEL/,
  )
  assert.equal(err.match(/no model is configured/g)?.length, 1)
  const shown = Array.from({ length: 10 }, (_, i) => `// small ${i + 1}`).join("\n")
  assert.equal(out, `2 files:\nsrc/deep/small.ts\nsrc/large.ts\n\nsrc/deep/small.ts:\n${shown}`)
})

test("vitamin run without a key asks before it runs a command, as with any model", async () => {
  await using tmp = await tmpdir()
  const denied = await vitamin(tmp, ["run", "run `echo hi`"], keyless)
  assert.equal(denied.code, 3, denied.err)
  assert.match(denied.out, /bash echo hi did not work: /)
  const allowed = await vitamin(tmp, ["run", "--yes", "run `echo hi`"], keyless)
  assert.equal(allowed.code, 0, allowed.err)
  assert.equal(allowed.out, "hi")
})

test("vitamin run without a key does what people ask first, and runs the tests of a project", async () => {
  await using tmp = await tmpdir({ git: true })
  fillTeaShop(tmp)
  const asked: [request: string, answer: RegExp][] = [
    ["what does this project do?", /^README\.md:\n# Tea shop\n/],
    ["which branch is this?", /^feature\/checkout$/],
    ["what changed?", / M src\/config\.ts\n\?\? draft\.md\n/],
    ["where is slugify defined", /^src\/util\/slug\.ts:1: export const slugify/],
    ["which is the biggest file?", /^src\/cart\.ts$/],
    ["how many lines does src/cart.ts have", /^12 lines in src\/cart\.ts$/],
    ["run the tests", /^The tests pass \(npm test\)\.\n/],
    [
      "search for formatPrice and read the first file",
      /src\/cart\.ts:1: import[\s\S]*src\/cart\.ts:\nimport/,
    ],
  ]
  for (const [request, answer] of asked) {
    const { code, out, err } = await vitamin(tmp, ["run", "--yes", request], keyless)
    assert.equal(code, 0, err)
    assert.match(out, answer, request)
  }
  tmp.write(
    "test/sum.test.ts",
    'import { test } from "node:test"\ntest("one is two", (t) => t.assert.equal(1, 2))\n',
  )
  const failing = await vitamin(tmp, ["run", "--yes", "run the tests and tell me which ones fail"], keyless)
  assert.match(failing.out, /^The tests fail \(npm test\)\. Failing:\n {2}one is two\n/)
})

test("vitamin run without a key says that nothing has changed", async () => {
  await using tmp = await tmpdir({ git: true })
  for (const request of ["what changed?", "show the diff"]) {
    const { out } = await vitamin(tmp, ["run", request], keyless)
    assert.equal(out, "Nothing has changed since the last commit.", request)
  }
})

test("vitamin run without a key ends with 1 and says what it needs when it leaves something undone", async () => {
  await using tmp = await tmpdir({ git: true })
  fillTeaShop(tmp)
  const before = snapshot(tmp.path)
  const vague = await vitamin(tmp, ["run", "--yes", "add a comment at the top of src/cart.ts"], keyless)
  assert.equal(vague.code, 1, vague.err)
  assert.match(
    vague.out,
    /leaves open what to write[\s\S]*add the line 'new text' at the top of src\/cart\.ts/,
  )
  assert.equal(vague.err.match(/VITAMIN_MODEL/g)?.length, 1)
  const strange = await vitamin(tmp, ["run", "--yes", "why is the sky blue?"], keyless)
  assert.equal(strange.code, 1, strange.err)
  assert.match(
    strange.out,
    /^I have no rule for this request\.\nI am local\/rules, the built-in offline model/,
  )
  const missing = await vitamin(tmp, ["run", "--yes", "read src/crat.ts"], keyless)
  assert.equal(missing.code, 1, missing.err)
  const refused = await vitamin(tmp, ["run", "delete notes.txt and then write 'x' to y.txt"], keyless)
  assert.equal(refused.code, 3, refused.err)
  assert.match(refused.out, /bash rm notes\.txt did not work: [\s\S]*Not done .*I stopped, because/)
  assert.deepEqual(snapshot(tmp.path), before)
})

test("vitamin run without a key says in plain words what a folder without git and tests does not have", async () => {
  await using tmp = await tmpdir()
  tmp.write("list.txt", "milk\n")
  const asked: [request: string, answer: RegExp, code: number][] = [
    ["what changed?", /^This folder is not in a git repository\.$/, 1],
    ["run the tests", /^Not done \(run the tests\): I know no command for that/, 1],
    ["what does this project do?", /^There is no README\.md\.\n\n\.:\nlist\.txt {2}5 B$/, 0],
    ["create list.txt with 'tea' and then delete list.txt", /list\.txt is already there[\s\S]*I stopped/, 1],
    ["append 'tea' to list.txt and show it", /list\.txt:\nmilk\ntea$/, 0],
  ]
  for (const [request, answer, code] of asked) {
    const ended = await vitamin(tmp, ["run", "--yes", request], keyless)
    assert.match(ended.out, answer, request)
    assert.equal(ended.code, code, request)
  }
  assert.deepEqual(snapshot(tmp.path), { "list.txt": "milk\ntea\n" })
})

test('vitamin serve answers a request that the offline model cannot do with the reason "cannot"', async () => {
  await using tmp = await tmpdir()
  const { child, url, tokenFile } = await serving(tmp, [], keyless)
  await using _ = child
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
    "x-vitamin-directory": tmp.path,
  }
  const post = async (path: string, body: unknown) =>
    (await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json()
  const { id } = (await post("/session", {})) as { id: string }
  const answer = await post(`/session/${id}/message`, { parts: [{ type: "text", text: "make it faster" }] })
  assert.equal((answer as { data: { finish: string } }).data.finish, "cannot", JSON.stringify(answer))
})

test("vitamin run does not store a model that it chose itself: the next prompt chooses again", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("from a real one")])
  assert.match((await vitamin(tmp, ["run", "hello"], keyless)).out, /Hello/)
  const variables = { OPENAI_BASE_URL: `${llm.url}/v1`, OPENAI_API_KEY: "fake-llm-key-0123456789" }
  const { out, err } = await vitamin(tmp, ["run", "--continue", "hello"], {
    ...variables,
    VITAMIN_MODEL: "openai/fake-model",
  })
  assert.equal(out, "from a real one", err)
})

test("vitamin run, models and doctor find a model server on this machine", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm(() => text("from the server"))
  await using server = await ollama(llm.url, "qwen2.5-coder:7b")
  const own = { ...keyless, OLLAMA_BASE_URL: "", OLLAMA_HOST: server.host }
  // Finding has a short time limit; a loaded machine may need several tries.
  const run = await eventually(
    () => vitamin(tmp, ["run", "hello"], own),
    ({ out }) => out === "from the server",
  )
  assert.equal(run.out, "from the server", run.err)
  assert.equal(
    run.err,
    `vitamin: no model is configured: using ollama/qwen2.5-coder:7b, found at http://${server.host}/v1; VITAMIN_MODEL or --model chooses another\n`,
  )
  const models = await eventually(
    () => vitamin(tmp, ["models", "ollama"], own),
    ({ out }) => out !== "",
  )
  assert.match(models.out, /^ollama\/qwen2\.5-coder:7b /)
  const doctor = await eventually(
    () => vitamin(tmp, ["doctor"], own),
    ({ out }) => /model server/.test(out) && /ollama\/qwen/.test(out),
  )
  assert.match(doctor.out, /^ok {4}model {10}none configured; ollama\/qwen2\.5-coder:7b is used$/m)
  assert.match(
    doctor.out,
    /^ok {4}model server {3}ollama at http:\/\/127\.0\.0\.1:\d+\/v1, 1 models: qwen2\.5-coder:7b$/m,
  )
})

async function eventually<T>(attempt: () => Promise<T>, isSo: (result: T) => boolean): Promise<T> {
  for (const start = performance.now(); ; ) {
    const result = await attempt()
    if (isSo(result) || performance.now() - start > 120_000) return result
  }
}

test("an agent without tools for files is told to use a model", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await vitamin(tmp, ["run", "--agent", "orchestrator", "list the files"], keyless)
  assert.equal(code, 1)
  assert.match(
    out,
    /My rules need tools .* this agent does not have\. Use the agent build, or a language model/,
  )
})

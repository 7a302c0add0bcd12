// Twenty secrets are in documents, in what a model wants to remember, in calls that guards block, and in a page. None may be
// found in clear in what is derived from these: the index, memory, messages, explanations of guards, and files of Chromium.
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { contentOf, createCanaries, findIn, names } from "../../fixture/canaries.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, calls, env, type FakeLlm, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { pdfOfPages } from "../../fixture/pdf.ts"
import { shortTmp } from "../../fixture/short-tmp.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const tools = [
  ...[
    "secrets_set",
    "rag_add",
    "rag_search",
    "save_knowledge",
    "memory_save",
    "memory_search",
    "observe_note",
  ],
  ...["reflect_summarize", "browser_open", "write", "bash"],
]
const guards = {
  "no-docs": { block: "file.write:docs/**", because: "the documents are generated" },
  "no-shell": { block: "bash.execute:*", because: "no commands" },
}
const isPlain = (value: string) => /^\w+$/.test(value)

/** As a page breaks a word that is too long for it. */
function wrapped(value: string): string[] {
  return value.match(/.{1,20}/g)!
}

/** Each value in a note, in a heading, and across the end of a passage: lines are split after 999 characters. */
function noteWith(value: string): string {
  const long = `lantern ${"-".repeat(999 - 8 - 15)}${value}`
  return `# Door of ${value}\n\nThe lighthouse opens with ${value}.\n\n${long}\n`
}

function resultsOf({ requests }: FakeLlm): string {
  return requests
    .at(-1)!
    .messages.flatMap(({ results }) => results.map((one) => one.text))
    .join("\n")
}

test("none of 20 canary values is found in clear in what is derived from documents, pages and blocked calls", async () => {
  await using tmp = await tmpdir({ git: true })
  const canaries = createCanaries()
  const values = [...canaries.values()]
  const root = dirname(tmp.path)
  const given = join(root, "given")
  mkdirSync(given)
  using temp = shortTmp()
  const plain = values.filter(isPlain)
  writeFileSync(
    join(given, "manual.pdf"),
    pdfOfPages(plain.map((value) => ["The cellar", "opens with", ...wrapped(value)])),
  )
  for (const [name, value] of canaries) writeFileSync(join(given, `${name}.md`), noteWith(value))
  tmp.write(".vitamin/agents/all.md", `---\ntools: [${tools.join(", ")}]\n---\nYou do everything.\n`)
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8")
    response.end(`<title>${plain[0]}</title>${values.map((value) => `<p>${value}</p>`).join("")}`)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await using llm = await fakeLlm([
    calls(names.map((name, i) => call("secrets_set", { name, from: { env: `GIVEN_${i}` } }))),
    call("rag_add", { folder: given }),
    calls(
      ["lighthouse", "lantern", "cellar", ...values].map((query) => call("rag_search", { query, limit: 20 })),
    ),
    calls(
      values.flatMap((value) => [
        call("memory_save", { text: `It opens with ${value}` }),
        call("observe_note", { text: `It opens with ${value}` }),
        call("reflect_summarize", { conclusion: `It opens with ${value}` }),
        call("save_knowledge", { fact: `It opens with ${value}`, source: "a letter" }),
        call("save_knowledge", { fact: "It opens", source: value }),
      ]),
    ),
    calls(
      values.flatMap((value) => [
        call("write", { path: `docs/${encodeURIComponent(value)}.md`, content: value }),
        call("bash", { command: `echo '${value}'` }),
      ]),
    ),
    call("browser_open", { url }),
    text(`Done: ${values.join(" ")}`),
  ])
  const rights = [
    "secret.use:*",
    `file.read:${given}/**`,
    "knowledge.write",
    "memory.write",
    `network.fetch:${url}*`,
  ]
  const args = ["--trust", "run", "--agent", "all", "--yes", "--format", "json", "do it"]
  const ran = await vitamin(tmp, [...args, ...rights.flatMap((rule) => ["--allow", rule])], {
    ...env(llm, "chat").variables,
    ...Object.fromEntries(values.map((value, i) => [`GIVEN_${i}`, value])),
    VITAMIN_VAULT_PASSPHRASE: "a passphrase of the test",
    VITAMIN_CONFIG: JSON.stringify({ guards }),
    VITAMIN_LOG: "debug",
    TMPDIR: temp.path,
  })
  server.close()
  assert.equal(ran.code, 0, ran.err)
  rmSync(given, { recursive: true })
  const said = await Promise.all([
    vitamin(tmp, ["guard", "explain", "--svg", join(root, "timeline.svg")]),
    vitamin(tmp, ["guard", "explain", "--format", "json"]),
    vitamin(tmp, ["session", "export", /"sessionId":"([^"]+)"/.exec(ran.out)![1]!]),
  ])
  for (const { code, err } of said) assert.equal(code, 0, err)

  const last = resultsOf(llm)
  assert.match(last, /opens with \[secret canary-1\]/)
  assert.match(last, /manual\.pdf, page \d+/)
  assert.match(last, /Secrets are never recorded/)
  assert.match(last, /title: \[secret canary-1\]/)
  assert.match(said[0].out, /bash:echo '\[secret canary-1\]'.* was blocked by "no-shell"/)
  assert.match(said[0].out, /40 blocked$/)
  assert.match(readFileSync(join(root, "timeline.svg"), "utf8"), /\[secret canary-1\]/)
  assert.deepEqual(readdirSync(temp.path), [], "Chromium leaves no files")
  const places = [
    { file: "stdout", content: ran.out },
    { file: "stderr", content: ran.err },
    // A model is sent its own calls as it wrote them.
    { file: "results for the model", content: resultsOf(llm) },
    ...said.map(({ out, err }, i) => ({ file: `output ${i}`, content: out + err })),
    ...contentOf(root),
  ]
  assert.deepEqual(findIn(places, canaries), [])
})

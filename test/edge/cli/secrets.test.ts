// Known secrets in every input at once: none may appear in the terminal, an event, a record, a log, a snapshot, or a
// child's environment.
import assert from "node:assert/strict"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { test } from "node:test"
import { serving, startVitamin, vitamin } from "../../fixture/cli.ts"
import { call, calls, fakeLlm, status, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const canary = (name: string) => `canary-${name}-9f8e7d6c5b4a`
const canaries = {
  OPENAI_API_KEY: canary("openai"),
  ANTHROPIC_API_KEY: canary("anthropic"),
  GOOGLE_GENERATIVE_AI_API_KEY: canary("google"),
  GROQ_API_KEY: canary("groq"),
  MISTRAL_API_KEY: canary("mistral"),
  XAI_API_KEY: canary("xai"),
  OPENROUTER_API_KEY: canary("openrouter"),
  DEEPSEEK_API_KEY: canary("deepseek"),
  CEREBRAS_API_KEY: canary("cerebras"),
  TOGETHER_API_KEY: canary("together"),
  AZURE_API_KEY: canary("azure"),
  COHERE_API_KEY: canary("cohere"),
  GEMINI_API_KEY: canary("gemini"),
  FIREWORKS_API_KEY: canary("fireworks"),
  PERPLEXITY_API_KEY: canary("perplexity"),
  NVIDIA_API_KEY: canary("nvidia"),
  HF_TOKEN: canary("hugging"),
  AWS_BEARER_TOKEN_BEDROCK: canary("bedrock"),
}
const configured = {
  provider: {
    openai: { apiKey: canary("config-key"), headers: { "x-gateway-key": canary("header") } },
    anthropic: { headers: { authorization: `Bearer ${canary("bearer")}` } },
    custom: {
      apiKey: canary("custom-key"),
      baseURL: `http://127.0.0.1:9/v1?key=${canary("query")}`,
      headers: { cookie: canary("cookie") },
    },
  },
  mcp: {
    servers: [
      {
        id: "m",
        name: "m",
        transport: "http",
        url: "http://127.0.0.1:9",
        auth: { type: "bearer", token: canary("mcp") },
      },
    ],
  },
}
const login = canary("login")
const inConfig = ["config-key", "header", "bearer", "custom-key", "cookie", "mcp"].map(canary)
/** All secrets that the model and the tools print. */
const all = [...Object.values(canaries), ...inConfig, login]
/** A secret in a URL: it is not registered by itself, but must not be shown either. */
const inAddress = canary("query")

/** All files that vitamin wrote for itself, without its secret files. */
function ownFiles(tmp: Tmp): { name: string; bytes: Buffer }[] {
  const root = dirname(tmp.path)
  return ["data", "state", "cache"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !["auth.json", "token"].includes(entry.name))
        .map((entry) => {
          const path = join(entry.parentPath, entry.name)
          return { name: relative(root, path), bytes: readFileSync(path) }
        }),
    )
}

function leaks(tmp: Tmp, shown: Record<string, string>): string[] {
  const places = [
    ...Object.entries(shown).map(([name, output]) => ({ name, bytes: Buffer.from(output) })),
    ...ownFiles(tmp),
  ]
  return [...all, inAddress].flatMap((secret) =>
    places.flatMap(({ name, bytes }) => (bytes.includes(secret) ? [`${secret} in ${name}`] : [])),
  )
}

async function prepare(tmp: Tmp, url: string): Promise<Record<string, string>> {
  const { provider } = configured
  const config = {
    ...configured,
    permission: [{ permission: "*", pattern: "*", action: "allow" }],
    provider: { ...provider, openai: { ...provider.openai, baseURL: `${url}/v1` } },
  }
  const variables = {
    ...canaries,
    VITAMIN_MODEL: "openai/fake-model",
    VITAMIN_CONFIG: JSON.stringify(config),
  }
  await using child = startVitamin(tmp, ["auth", "login", "groq"], variables)
  child.process.stdin!.end(`${login}\n`)
  assert.equal(await child.exit, 0, child.errors())
  return variables
}

/** The model prints the secrets itself, and calls tools that print them or write them to files. */
const script = [
  calls([
    call("bash", { command: `printenv; echo ${canary("openai")}` }),
    call("write", { path: "notes.txt", content: all.join("\n") }),
    call("read", { path: "leaked.env" }),
    call("grep", { pattern: "canary" }),
    call("edit", { path: "leaked.env", edits: [{ oldText: "nothing", newText: canary("login") }] }),
    call("todo", { todos: [{ text: `use ${canary("bearer")}`, status: "pending" }] }),
  ]),
  text(`The keys are ${all.join(" and ")}.`),
]

test("vitamin run reveals no secret, whatever the model, the tools and the files contain", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([...script])
  const variables = await prepare(tmp, llm.url)
  tmp.write("leaked.env", all.map((secret) => `KEY=${secret}`).join("\n"))
  const log = join(tmp.path, "..", "state", "log.txt")
  const run = await vitamin(
    tmp,
    ["run", "--log-level", "debug", "--log-file", log, `say ${canary("xai")}`],
    variables,
  )
  assert.equal(run.code, 0, run.err)
  const json = await vitamin(tmp, ["session", "list", "--format", "json"], variables)
  const [{ id }] = JSON.parse(json.out) as [{ id: string }]
  const shown: Record<string, string> = { out: run.out, err: run.err }
  for (const args of [
    ["session", "show", id],
    ["session", "export", id],
    ["session", "export", id, "--format", "markdown"],
    ["config", "show"],
    ["config", "show", "--format", "json"],
    ["doctor"],
    ["auth", "list"],
    ["models", "openai"],
  ]) {
    const { out, err } = await vitamin(tmp, args, variables)
    shown[args.join(" ")] = out + err
  }
  assert.match(run.out, /The keys are \[/)
  assert.deepEqual(leaks(tmp, shown), [])
  const environment = JSON.stringify(llm.requests[1]!.body)
  for (const name of Object.keys(canaries)) assert.ok(!environment.includes(`${name}=`), name)
})

test("an error of the provider that repeats a key is redacted", async () => {
  await using tmp = await tmpdir({ git: true })
  const said = `Incorrect API key provided: ${canary("config-key")} (${canary("header")})`
  await using llm = await fakeLlm([status(401, { message: said })])
  const variables = await prepare(tmp, llm.url)
  const { code, out, err } = await vitamin(tmp, ["run", "--format", "json", "hello"], variables)
  assert.equal(code, 1)
  assert.match(err + out, /Incorrect API key provided: \[/)
  assert.deepEqual(leaks(tmp, { out, err }), [])
})

test("vitamin serve reveals no secret in responses, events and its event log", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([...script])
  const variables = await prepare(tmp, llm.url)
  tmp.write("leaked.env", all.map((secret) => `KEY=${secret}`).join("\n"))
  const { child, url, tokenFile } = await serving(tmp, ["--log-level", "debug"], variables)
  await using _ = child
  const token = readFileSync(tokenFile, "utf8").trim()
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const get = async (path: string, init: RequestInit = {}) =>
    (await fetch(url + path, { headers, ...init })).text()
  const events = await fetch(`${url}/event`, { headers })
  const { id } = JSON.parse(await get("/session", { method: "POST", body: "{}" })) as { id: string }
  const body = JSON.stringify({ text: `say ${canary("xai")}` })
  const shown: Record<string, string> = {
    answer: await get(`/session/${id}/message`, { method: "POST", body }),
  }
  for (const path of ["/config", "/info", "/provider", "/session", `/session/${id}/message`, "/openapi.json"])
    shown[path] = await get(path)
  shown.events = await untilIdle(events)
  child.process.kill("SIGTERM")
  await child.exit
  shown.log = child.errors()
  assert.deepEqual(leaks(tmp, shown), [])
  assert.deepEqual(
    [...Object.entries(shown), ...ownFiles(tmp).map(({ name, bytes }) => [name, bytes.toString()])]
      .filter(([, output]) => output!.includes(token))
      .map(([name]) => name),
    [],
  )
})

async function untilIdle(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let heard = ""
  for await (const bytes of response.body!) {
    heard += decoder.decode(bytes, { stream: true })
    if (heard.includes("session.idle")) break
  }
  return heard
}

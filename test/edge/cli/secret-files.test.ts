// vitamin's own files with the server's token, keys and logins, in the built command: tools cannot reach them, and
// their content is redacted everywhere, also in a process that never used it.
import assert from "node:assert/strict"
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, type Script, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const secrets = {
  token: "server-token-canary-0123456789abcdefghijklmnopqrstuvwxyz",
  key: "auth-key-canary-0123456789",
  access: "mcp-access-canary-0123456789",
  client: "mcp-client-canary-0123456789",
}
const canary = /-canary-/
/** A command that finds the files without naming them. */
const findThem = "find .. -name token -exec cat {} + ; find .. -name '*auth.json' -exec cat {} +"

function writeSecrets(tmp: Tmp): { token: string; auth: string; mcp: string } {
  const [state, data] = [join(tmp.env.XDG_STATE_HOME!, "vitamin"), join(tmp.env.XDG_DATA_HOME!, "vitamin")]
  for (const folder of [state, data]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const write = (file: string, content: string) => {
    writeFileSync(file, content, { mode: 0o600 })
    return file
  }
  const issuer = {
    client: { client_id: "us", client_secret: secrets.client },
    tokens: { access_token: secrets.access, token_type: "Bearer" },
  }
  return {
    token: write(join(state, "token"), `${secrets.token}\n`),
    auth: write(join(data, "auth.json"), JSON.stringify({ groq: { key: secrets.key, time: 1 } })),
    mcp: write(
      join(data, "mcp-auth.json"),
      JSON.stringify({ "http://x/mcp": { issuer: "http://x", issuers: { "http://x": issuer } } }),
    ),
  }
}

/** The content of all files below the homes of the test, without the secret files themselves. */
function written(tmp: Tmp, own: string[]): string {
  const root = join(tmp.path, "..")
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !own.includes(realpathSync(join(entry.parentPath, entry.name))))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n")
}

function results(llm: FakeLlm): string[] {
  return llm.requests
    .at(-1)!
    .messages.flatMap((message) => (message.role === "tool" ? [JSON.stringify(message)] : []))
}

async function run(tmp: Tmp, script: Script, args: string[] = []) {
  await using llm = await fakeLlm(script)
  const ended = await vitamin(tmp, ["run", "--yes", ...args, "go"], env(llm, "chat").variables)
  return { ...ended, llm, outputs: results(llm) }
}

test("no tool reaches the token, the keys or the logins, even with --yes and rules that allow everything", async () => {
  await using tmp = await tmpdir({ git: true })
  const files = writeSecrets(tmp)
  symlinkSync(files.token, join(tmp.path, "link"))
  symlinkSync(join(files.token, ".."), join(tmp.path, "state"))
  const tried = [
    call("read", { path: files.token }),
    call("read", { path: files.auth }),
    call("read", { path: files.mcp }),
    call("read", { path: "link" }),
    call("read", { path: "state/token" }),
    call("grep", { pattern: ".", path: join(files.token, "..") }),
    call("glob", { pattern: "*", path: join(files.token, "..") }),
    call("ls", { path: "state" }),
    call("write", { path: files.token, content: "x" }),
    call("edit", { path: files.auth, edits: [{ oldText: "groq", newText: "x" }] }),
    call("bash", { command: `cat ${files.token}` }),
    call("bash", { command: "cat $XDG_STATE_HOME/vitamin/token" }),
    call("bash", { command: "cat ../state/vitamin/token" }),
    call("bash", { command: "cd ../state && cat vitamin/token" }),
    call("bash", { command: "cat link" }),
    call("bash", { command: "cat state/token", background: true }),
    call("bash", { command: "cp ../data/vitamin/auth.json copy.json" }),
  ]
  const allow = ["--allow", "file.*:/**", "--allow", "bash.execute:*"]
  const { outputs, llm, out, err } = await run(tmp, [...tried, text("Done.")], allow)
  assert.equal(outputs.length, tried.length)
  for (const [i, output] of outputs.entries())
    assert.match(output, /was not run: .* vitamin's own keys and tokens/, JSON.stringify(tried[i]))
  assert.doesNotMatch(JSON.stringify(llm.requests) + out + err, canary)
  assert.equal(readFileSync(files.token, "utf8").trim(), secrets.token)
  assert.doesNotMatch(written(tmp, Object.values(files)), canary)
})

test("grep and glob do not show the secret files below a folder", async () => {
  await using tmp = await tmpdir({ git: true })
  const files = writeSecrets(tmp)
  const root = join(tmp.path, "..")
  writeFileSync(join(root, "other"), "a-canary-of-another\n")
  const { outputs } = await run(tmp, [
    call("grep", { pattern: "canary", path: root }),
    call("glob", { pattern: "**/{token,*auth.json,other}", path: root }),
    text("Done."),
  ])
  assert.match(outputs[0]!, /a-canary-of-another/)
  assert.doesNotMatch(outputs[0]!, /token-canary|key-canary|access-canary/)
  assert.match(outputs[1]!, /other/)
  assert.doesNotMatch(outputs[1]!, /vitamin\/(token|auth|mcp-auth)/)
  assert.ok(files.token)
})

test("@path and --file do not reach the secret files", async () => {
  await using tmp = await tmpdir({ git: true })
  const files = writeSecrets(tmp)
  symlinkSync(files.token, join(tmp.path, "link"))
  for (const args of [
    ["--file", files.token],
    ["--file", "link"],
    ["Look at @link"],
    ["--file", files.auth],
  ]) {
    await using llm = await fakeLlm([text("Done.")])
    const all = ["run", "--yes", "--allow", "file.*:/**", ...args, ...(args[0] === "--file" ? ["go"] : [])]
    const { out, err } = await vitamin(tmp, all, env(llm, "chat").variables)
    assert.match(err + JSON.stringify(llm.requests), /vitamin's own keys and tokens/, args.join(" "))
    assert.doesNotMatch(JSON.stringify(llm.requests) + out + err, canary)
  }
  assert.doesNotMatch(written(tmp, Object.values(files)), canary)
})

test("secrets that a command prints are redacted in messages, events and output", async () => {
  await using tmp = await tmpdir({ git: true })
  const files = writeSecrets(tmp)
  const server = await serving(tmp)
  await using _ = server.child
  assert.equal(server.tokenFile, files.token)
  const { outputs, llm, out, err } = await run(tmp, [call("bash", { command: findThem }), text("Done.")])
  for (const label of ["[server token]", "[groq key]", "[mcp login]"])
    assert.ok(outputs[0]!.includes(label), outputs[0])
  assert.doesNotMatch(JSON.stringify(llm.requests) + out + err, canary)
  assert.doesNotMatch(written(tmp, Object.values(files)), canary)
})

test("a token that another process creates during a prompt is redacted in results and in live output", async () => {
  const after = {
    read: (token: string) => call("read", { path: token }),
    // The output is published while the command still runs.
    bash: () => call("bash", { command: `${findThem}; sleep 0.5` }),
  }
  for (const next of Object.values(after)) {
    await using tmp = await tmpdir({ git: true })
    const token = join(tmp.env.XDG_STATE_HOME!, "vitamin/token")
    let files: Record<string, string> = {}
    const script: Script = [
      call("bash", { command: "echo first" }),
      () => {
        files = writeSecrets(tmp)
        return next(token)
      },
      text("Done."),
    ]
    const { outputs, llm, out } = await run(tmp, script, [
      "--format",
      "json",
      "--allow",
      `file.read:${token}`,
    ])
    assert.ok(outputs[1]!.includes("[server token]"), outputs[1])
    assert.doesNotMatch(JSON.stringify(llm.requests) + out, canary)
    assert.doesNotMatch(written(tmp, Object.values(files)), canary)
  }
})

test("a rule that names a secret file allows tools to read it, and its content is still redacted", async () => {
  await using tmp = await tmpdir({ git: true })
  const files = writeSecrets(tmp)
  const named = ["--allow", `file.read:${files.token}`, "--allow", `bash.execute:wc -c ${files.token}`]
  const { outputs, llm } = await run(
    tmp,
    [call("read", { path: files.token }), call("bash", { command: `wc -c ${files.token}` }), text("Done.")],
    named,
  )
  assert.ok(outputs[0]!.includes("[server token]"), outputs[0])
  assert.match(outputs[1]!, new RegExp(`${secrets.token.length + 1} `))
  assert.doesNotMatch(JSON.stringify(llm.requests), canary)
})

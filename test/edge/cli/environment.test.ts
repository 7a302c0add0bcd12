// Which environment variables commands and MCP servers get, and what they find in /proc.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const secrets = {
  AWS_ACCESS_KEY_ID: "aws-id-canary-9f8e7d6c",
  AWS_SECRET_ACCESS_KEY: "aws-secret-canary-9f8e7d6c",
  GH_TOKEN: "gh-canary-9f8e7d6c",
  GITHUB_TOKEN: "github-canary-9f8e7d6c",
  NODE_AUTH_TOKEN: "npm-canary-9f8e7d6c",
}
const canary = /canary-9f8e7d6c/

function results(llm: FakeLlm): string[] {
  return llm.requests
    .at(-1)!
    .messages.flatMap((message) => (message.role === "tool" ? [JSON.stringify(message)] : []))
}

async function runCommands(tmp: Tmp, commands: string[], variables: Record<string, string> = secrets) {
  await using llm = await fakeLlm([...commands.map((command) => call("bash", { command })), text("Done.")])
  const { code, err } = await vitamin(tmp, ["run", "--yes", "go"], {
    ...env(llm, "chat").variables,
    ...variables,
  })
  assert.equal(code, 0, err)
  return { outputs: results(llm), err }
}

test("variables that are named like credentials are withheld from commands, and this is reported once", async () => {
  await using tmp = await tmpdir({ git: true })
  const { outputs, err } = await runCommands(tmp, ["env", "env | sort", 'echo "[$GH_TOKEN]"'])
  for (const output of outputs) assert.doesNotMatch(output, canary)
  const names = Object.keys(secrets)
  const report = `commands do not get ${names.join(", ")}: their names look like credentials. environment.pass: ${JSON.stringify(names)} in the configuration passes them on`
  assert.ok(outputs[0]!.includes(JSON.stringify(report).slice(1, -1)), outputs[0])
  assert.equal(outputs.filter((output) => output.includes("environment.pass")).length, 1)
  assert.equal(err.split("environment.pass").length, 2, err)
  assert.ok(err.includes(`vitamin: ${report}`), err)
})

test("environment.pass in the global file passes the named variables to commands, and no others", async () => {
  await using tmp = await tmpdir({ git: true })
  const pass = ["GH_TOKEN", "GITHUB_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
  tmp.write("../config/vitamin/vitamin.jsonc", JSON.stringify({ environment: { pass } }))
  const print = Object.keys(secrets).map((name) => `"$\{#${name}}"`)
  const { outputs, err } = await runCommands(tmp, [`echo lengths: ${print.join(" ")}`])
  assert.match(outputs[0]!, /lengths: 22 26 18 22 0/)
  assert.match(err, /commands do not get NODE_AUTH_TOKEN:/)
})

test("environment.pass of a project applies only if the folder is trusted", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ environment: { pass: Object.keys(secrets) } }))
  const untrusted = await runCommands(tmp, [`echo "length: $\{#GH_TOKEN}"`])
  assert.match(untrusted.outputs[0]!, /length: 0/)
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const trusted = await runCommands(tmp, [`echo "length: $\{#GH_TOKEN}"`])
  assert.match(trusted.outputs[0]!, /length: 18/)
  assert.doesNotMatch(trusted.err, /environment\.pass/)
})

test("environment.pass takes whole names only", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("../config/vitamin/vitamin.jsonc", JSON.stringify({ environment: { pass: ["AWS_*"] } }))
  const { err } = await vitamin(tmp, ["config", "show"])
  assert.match(err, /environment\.pass\[0\]: expected the whole name of a variable, without wildcards/)
})

test("gh, aws and npm get their variables only if environment.pass names them", async () => {
  await using tmp = await tmpdir({ git: true })
  const programs = { gh: "GH_TOKEN", aws: "AWS_SECRET_ACCESS_KEY", npm: "NODE_AUTH_TOKEN" }
  for (const [name, variable] of Object.entries(programs)) {
    const file = tmp.write(
      `bin/${name}`,
      `#!/bin/sh\n[ -n "$${variable}" ] && echo ${name} works || exit 4\n`,
    )
    const { chmodSync } = await import("node:fs")
    chmodSync(file, 0o755)
  }
  const variables = { ...secrets, PATH: `${join(tmp.path, "bin")}:${process.env.PATH}` }
  const commands = ["gh auth status", "aws s3 ls", "npm publish"]
  const before = await runCommands(tmp, commands, variables)
  for (const output of before.outputs) assert.match(output, /exit code 4/)
  const pass = Object.values(programs)
  tmp.write("../config/vitamin/vitamin.jsonc", JSON.stringify({ environment: { pass } }))
  const after = await runCommands(tmp, commands, variables)
  for (const [i, name] of Object.keys(programs).entries())
    assert.match(after.outputs[i]!, new RegExp(`${name} works`))
})

test("a command finds no withheld value in /proc of the process that started it", async () => {
  await using tmp = await tmpdir({ git: true })
  // The values go to a file, because the output would be redacted.
  const read = "for p in $PPID $$; do tr '\\0' '\\n' < /proc/$p/environ; done > seen; wc -l < seen"
  const { outputs } = await runCommands(tmp, [read])
  const seen = readFileSync(join(tmp.path, "seen"), "utf8")
  assert.match(seen, /^GH_TOKEN=$/m, "it is the environment of vitamin")
  assert.match(seen, /^PATH=\//m)
  assert.doesNotMatch(seen, canary)
  assert.doesNotMatch(seen, /fake-llm-key/)
  assert.match(outputs[0]!, /\d/)
})

test("an MCP server gets base variables and those of its entry, and finds no others in /proc", async () => {
  await using tmp = await tmpdir({ git: true })
  const seen = join(tmp.path, "..", "seen")
  const { command, args } = tinyServer({ tools: [{ name: "one" }] })
  const script = `env > ${seen}; tr '\\0' '\\n' < /proc/$PPID/environ > ${seen}-parent; exec "$0" "$@"`
  const entry = { command: "sh", args: ["-c", script, command, ...args] }
  const named = { env: { MINE: "own", TOKEN_OF_MINE: `\${GH_TOKEN}` } }
  tmp.write(".mcp.json", mcpJson({ one: { ...entry, ...named } }))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const variables = { ...secrets, ORDINARY_SETTING: "1", HTTPS_PROXY: "http://me:password@127.0.0.1:9" }
  const { code, out, err } = await vitamin(tmp, ["mcp", "test", "one"], variables)
  assert.equal(code, 0, out + err)
  const own = readFileSync(seen, "utf8")
  const names = own.split("\n").map((line) => line.split("=")[0])
  for (const name of ["PATH", "HOME", "XDG_DATA_HOME", "MINE"]) assert.ok(names.includes(name), name)
  for (const name of [...Object.keys(secrets), "ORDINARY_SETTING", "HTTPS_PROXY"])
    assert.ok(!names.includes(name), name)
  assert.match(own, /^TOKEN_OF_MINE=gh-canary/m)
  assert.doesNotMatch(readFileSync(`${seen}-parent`, "utf8"), canary)
})

// Secrets of a project: encrypted in PostgreSQL, given to commands on a worker, redacted everywhere else.
import assert from "node:assert/strict"
import { randomBytes } from "node:crypto"
import { globSync, readFileSync, statSync } from "node:fs"
import { test } from "node:test"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { noPostgres, tmpDatabase } from "../../../fixture/postgres.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { startWorker } from "./worker.ts"

const real = { skip: noPostgres, timeout: 120_000 }
const value = "correct-horse-battery-9"

async function setSecret(
  tmp: Tmp,
  args: string[],
  { input, variables }: { input: string; variables: Record<string, string> },
) {
  await using child = startVitamin(tmp, ["secret", "set", ...args], variables)
  child.process.stdin!.end(input)
  return { code: await child.exit, out: child.lines.join("\n"), err: child.errors() }
}

test(
  "a command on a worker gets the secret of its project, and no record, event or log has it",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const key = randomBytes(32).toString("base64")
    await using llm = await fakeLlm([
      call("bash", {
        command:
          'printf "%s" "$DEPLOY_TOKEN" | wc -c; echo "it is $DEPLOY_TOKEN"; env | grep -c VITAMIN_SECRET_KEY',
      }),
      text("Done."),
    ])
    const variables = { ...env(llm, "chat").variables, VITAMIN_SECRET_KEY: key }
    const set = { VITAMIN_DATABASE: database.url, VITAMIN_SECRET_KEY: key }
    const stored = await setSecret(tmp, ["DEPLOY_TOKEN"], { input: `${value}\n`, variables: set })
    assert.equal(stored.code, 0, stored.err)
    const listed = await vitamin(tmp, ["secret", "list"], set)
    assert.match(listed.out, /^DEPLOY_TOKEN /)
    const [row] = await database.query<{ body: string }>(
      "select body from vitamin.record where parent like 'project-secret%'",
    )
    assert.match(row!.body, /"nonce"/)

    await using one = await startWorker(tmp, "one", { database, variables })
    const session = await one.client.createSession({})
    await one.client.promptSession({ id: session.id, text: "Deploy.", asks: "once" })
    const said = JSON.stringify(await one.client.listMessages({ id: session.id }))
    assert.match(said, new RegExp(`${value.length}\\\\nit is \\[secret DEPLOY_TOKEN\\]\\\\n0`))
    await one.stop()
    const forms = [value, Buffer.from(value).toString("base64"), key]
    const tables = await database.query<{ row: string }>(
      "select r::text as row from vitamin.record r union all select e::text from vitamin.event e",
    )
    const files = globSync("../{one,data,state,cache,config}/**/*", { cwd: tmp.path })
      .map((path) => `${tmp.path}/${path}`)
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, "latin1"))
    assert.ok(tables.length > 5 && files.length > 3)
    for (const form of forms)
      for (const content of [...tables.map(({ row }) => row), ...files, said, listed.out, one.child.errors()])
        assert.equal(content.includes(form), false)
    assert.equal(JSON.stringify(llm.requests).includes(value), false)

    assert.equal((await vitamin(tmp, ["secret", "remove", "DEPLOY_TOKEN"], set)).code, 0)
    assert.equal((await vitamin(tmp, ["secret", "list"], set)).out, "")
  },
)

test("a secret does not open with another key, or under another name or project", real, async () => {
  await using tmp = await tmpdir({ git: true })
  await using database = await tmpDatabase()
  const key = randomBytes(32).toString("base64")
  const set = { VITAMIN_DATABASE: database.url, VITAMIN_SECRET_KEY: key }
  for (const [name, input, fault] of [
    ["TOKEN_A", "short", /needs 8 to/],
    ["PATH", value, /cannot be the name/],
    ["a b", value, /cannot be the name/],
  ] as const) {
    const { code, err } = await setSecret(tmp, [name], { input, variables: set })
    assert.equal(code, 1)
    assert.match(err, fault)
  }
  const without = await setSecret(tmp, ["TOKEN_A"], {
    input: value,
    variables: { VITAMIN_DATABASE: database.url },
  })
  assert.match(without.err, /^vitamin: Secrets of projects need a key/)
  assert.equal((await setSecret(tmp, ["TOKEN_A"], { input: value, variables: set })).code, 0)
  await using llm = await fakeLlm(() => call("bash", { command: "env | grep -c ^TOKEN_" }))
  const run = async (variables: Record<string, string>) => {
    const answer = await vitamin(tmp, ["run", "--yes", "--max-steps", "1", "--format", "json", "x"], {
      ...env(llm, "chat").variables,
      ...variables,
    })
    return answer.out + answer.err
  }
  assert.match(
    await run({ ...set, VITAMIN_SECRET_KEY: randomBytes(32).toString("base64") }),
    /sealed with another/,
  )
  await database.query(
    "update vitamin.record set name = 'TOKEN_B', body = replace(body, 'TOKEN_A', 'TOKEN_B') where parent like 'project-secret%'",
  )
  assert.match(await run(set), /TOKEN_B does not open/)
})

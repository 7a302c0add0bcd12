// A real `vitamin serve` that several people share, with a scripted model. Tokens are made by the route of the owner.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { createClient, createHttpTransport } from "#client/client.ts"
import type { Role } from "#kernel/person.ts"
import { serving } from "../../../fixture/cli.ts"
import { env, fakeLlm, type Script } from "../../../fixture/fake-llm.ts"
import { noPostgres, tmpDatabase } from "../../../fixture/postgres.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { follow } from "../harness.ts"

export type Team = Awaited<ReturnType<typeof startTeam>>
export type Member = ReturnType<Team["as"]>
type Json = ReturnType<typeof JSON.parse>

/** A test of a team whose records are files, and one of a team with records in PostgreSQL. */
export function onTeams(title: string, work: (start: typeof startTeam) => Promise<void>): void {
  test(title, () => work(startTeam))
  test(`${title} (PostgreSQL)`, { skip: noPostgres, timeout: 120_000 }, async () => {
    await using databases = new AsyncDisposableStack()
    await work(async (script, options) => {
      const database = databases.use(await tmpDatabase())
      return startTeam(script, { ...options, database: database.url })
    })
  })
}

export async function startTeam(script: Script = [], options: { args?: string[]; database?: string } = {}) {
  const tmp = await tmpdir({ git: true })
  // Commands of the test use the same records.
  if (options.database) tmp.env.VITAMIN_DATABASE = options.database
  const llm = await fakeLlm(script)
  const server = await serving(tmp, options.args ?? [], env(llm, "chat").variables)
  const { url } = server
  const ownToken = readFileSync(server.tokenFile, "utf8").trim()

  /** A person by their token; undefined: nobody. */
  function as(token: string | undefined) {
    const auth: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const fetchPath = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      fetch(url + path, {
        method,
        headers: { "content-type": "application/json", ...auth, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    return {
      token,
      auth,
      fetch: fetchPath,
      client: createClient(createHttpTransport({ url, token: token ?? "", directory: tmp.path })),
      async status(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
        const response = await fetchPath(method, path, body, headers)
        await response.body?.cancel()
        return response.status
      },
      async json(method: string, path: string, body?: unknown): Promise<Json> {
        return (await fetchPath(method, path, body)).json()
      },
      follow: (headers: Record<string, string> = {}) => follow({ url, token: token ?? "" }, headers),
    }
  }

  const owner = as(ownToken)
  return {
    tmp,
    llm,
    ...server,
    as,
    owner,
    async add(name: string, role: Role, more: { expires?: number } = {}) {
      const made = await owner.json("POST", "/token", { name, role, ...more })
      assert.match(made.token, /^vitamin_/, JSON.stringify(made))
      return as(made.token as string)
    },
    async [Symbol.asyncDispose]() {
      await server.child[Symbol.asyncDispose]()
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

// A `vitamin serve` with homes of its own on a shared database, as one machine of several.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createClient, createHttpTransport } from "#client/client.ts"
import { serving } from "../../../fixture/cli.ts"
import type { TmpDatabase } from "../../../fixture/postgres.ts"
import type { Tmp } from "../../../fixture/tmpdir.ts"

/** The homes of a machine beside those of the test. */
export function homesOf(tmp: Tmp, name: string): Record<string, string> {
  const root = join(tmp.path, "..", name)
  const homes = ["data", "config", "cache", "state"].map((folder) => [
    `XDG_${folder.toUpperCase()}_HOME`,
    join(root, folder),
  ])
  return { HOME: join(root, "home"), ...Object.fromEntries(homes) }
}

export async function startWorker(
  tmp: Tmp,
  name: string,
  {
    database,
    variables = {},
    directory = tmp.path,
  }: { database: TmpDatabase; variables?: Record<string, string>; directory?: string },
) {
  const homes = homesOf(tmp, name)
  const { child, url, tokenFile } = await serving(tmp, ["--database", database.url], {
    ...homes,
    ...variables,
  })
  const token = readFileSync(tokenFile, "utf8").trim()
  const client = createClient(createHttpTransport({ url, token, directory }))
  return {
    child,
    client,
    url,
    token,
    homes,
    data: join(homes.XDG_DATA_HOME!, "vitamin"),
    async stop() {
      child.process.kill("SIGTERM")
      await child.exit
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

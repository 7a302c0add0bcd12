// A second client of the server that a terminal uses.
import { readFileSync } from "node:fs"
import { type Client, createClient, createHttpTransport } from "#client/client.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"

export function clientOf(tmp: Tmp, { url, tokenFile }: { url: string; tokenFile: string }): Client {
  const token = readFileSync(tokenFile, "utf8").trim()
  return createClient(createHttpTransport({ url, token, directory: tmp.path }))
}

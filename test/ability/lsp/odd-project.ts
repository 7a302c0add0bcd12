// A project whose files ending with .odd have the server `odd-server.ts` in a mode of it.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Json } from "#ability/call/types.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { inTrusted } from "./harness.ts"

export const program = join(import.meta.dirname, "odd-server.ts")
/** What the server has received. */
type Message = {
  id?: number
  method?: string
  params?: unknown
  result?: unknown
  error?: { code: number }
}

/** Runs `fn` in the project. `wait`: the setting `lsp.wait`. */
export function withServer(
  mode: string,
  fn: (tmp: Tmp, log: () => Message[]) => Promise<void>,
  wait = 20_000,
): Promise<void> {
  let file = ""
  const command = [process.execPath, program, mode]
  const root = ["root.odd"]
  const odd = { command, extensions: { ".odd": "odd" }, root, settings: { odd: { depth: 3 } } as Json }
  return inTrusted(
    (tmp) => {
      tmp.write("a.odd", "fine\n")
      file = join(tmp.path, "log")
      const env = { ODD_LOG: file, ODD_PID: join(tmp.path, "pid") }
      tmp.write(".vitamin/config.jsonc", JSON.stringify({ lsp: { wait, servers: { odd: { ...odd, env } } } }))
    },
    (tmp) =>
      fn(tmp, () =>
        readFileSync(file, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line)),
      ),
  )
}

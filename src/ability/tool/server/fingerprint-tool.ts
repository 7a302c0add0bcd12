// Which tool of a server a person has allowed: what it said of itself then, as a sum, and where the name of the server does
// not say it, which program that is. In whatever order a schema is written, it is the same one.
import { createHash } from "node:crypto"
import type { ServerTool } from "./server-tools.ts"

export function fingerprintTool(
  { name, title, description, inputSchema }: ServerTool,
  program?: readonly string[],
): string {
  const said = JSON.stringify(
    [name, description || title || "", inputSchema, ...(program ? [program] : [])],
    inOrder,
  )
  return createHash("sha256").update(said).digest("hex")
}

function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

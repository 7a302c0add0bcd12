// An MCP server over stdio that answers each method with the lines that a file gives for it, valid or not. `$id` in
// a line is replaced by the id of the request. Other methods are refused.
import { readFileSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"

/** The lines by method. */
type Answers = Record<string, string[]>

const usual: Answers = {
  initialize: [
    resultOf(
      '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}',
    ),
  ],
  "tools/list": [resultOf('{"tools":[{"name":"good","inputSchema":{"type":"object"}}]}')],
  "tools/call": [resultOf('{"content":[{"type":"text","text":"fine"}]}')],
}

export function resultOf(json: string): string {
  return `{"jsonrpc":"2.0","id":$id,"result":${json}}`
}

/** `{"a":{"a":…}}`, too deep for what works by recursion. */
export function deepObject(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`
}

/** `file` is where its lines are kept. */
export function rawServer(file: string, answers: Answers): MCPServerConfig {
  writeFileSync(file, JSON.stringify({ ...usual, ...answers }))
  const command = [process.execPath, fileURLToPath(import.meta.url), file]
  return { id: "raw", name: "raw", transport: "stdio", command }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const answers = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Answers
  const refused = '{"jsonrpc":"2.0","id":$id,"error":{"code":-32601,"message":"no"}}'
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line)
    if (id === undefined || method === undefined) return
    for (const answer of answers[method] ?? [refused])
      process.stdout.write(`${answer.replaceAll("$id", JSON.stringify(id))}\n`)
  })
}

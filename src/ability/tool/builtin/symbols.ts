// The `symbols` tool: where things are defined, for agents that name it.
import { posix } from "node:path"
import { z } from "zod"
import { createCodeRepo } from "#knowledge/grounding/code-repo.ts"
import type { Item } from "#knowledge/grounding/source.ts"
import { mayRead } from "../may-read.ts"
import { needsReading, openTarget } from "../open-target.ts"
import type { Context, Definition, Output } from "../tool.ts"
import { descriptions } from "./descriptions.ts"
import { verifyMatches } from "./verify-matches.ts"

const limit = 200
const maxText = 160

const Parameters = z.strictObject({
  name: z.string().min(1).optional(),
  path: z.string().min(1).optional(),
})
type Args = z.infer<typeof Parameters>

export const symbols = {
  id: "symbols",
  description: descriptions.symbols,
  category: "code",
  parameters: Parameters,
  readOnly: true,
  onlyNamed: true,
  permission: ({ path }: Args) => needsReading(path),
  execute,
} satisfies Definition

async function execute({ name, path = "." }: Args, context: Context): Promise<Output> {
  const { signal } = context
  await using target = await openTarget(path, context)
  const { isDirectory, shown, handle, places } = target
  const repo = createCodeRepo(isDirectory ? target.path : "/")
  const { items, more } = await repo.search({
    kind: "symbol",
    text: name,
    limit,
    signal,
    ...(isDirectory ? { accepts: mayRead(target, context) } : { file: { fd: handle.fd, name: shown } }),
  })
  const groups = [...Map.groupBy(items, (item) => item.name)].map(([file, found]) => ({
    file,
    found,
    lines: found.map(({ line, text }) => `${line}:${text}`),
  }))
  const good = new Set<object>(
    isDirectory ? await verifyMatches({ root: places[1], groups, signal }) : groups,
  )
  const blocks = groups
    .filter((group) => good.has(group))
    .map(({ file, found }) => [posix.join(isDirectory ? shown : "", file), ...found.map(lineOf)].join("\n"))
  const note = more ? `\n[more than ${limit} symbols, the first ${limit} are shown; narrow the search]` : ""
  const none =
    name === undefined ? "No definition found." : `No definition of ${name} found; grep finds other places.`
  return {
    text: (blocks.join("\n\n") || none) + note,
    title: `${name ?? shown} (${items.length}${more ? "+" : ""})`,
    data: { symbols: items.length, more },
  }
}

function lineOf({ line, kind, text }: Item): string {
  return `${line}: ${kind}  ${text.trim().slice(0, maxText)}`
}

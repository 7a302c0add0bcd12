// The `symbols` tool: finds definitions, for agents that name it. If there is none, it shows where the name is used.
import { posix } from "node:path"
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { mayRead, needsReading, openTarget, type Target } from "#ability/file/open-target.ts"
import { verifyMatches } from "#ability/file/verify-matches.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"
import type { Item } from "#knowledge/grounding/source.ts"
import { descriptions } from "./descriptions.ts"

const limit = 200
const maxMentions = 20
const maxText = 160

const Parameters = z.strictObject({
  name: z.string().min(1).optional(),
  path: z.string().min(1).optional(),
})
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { name: "createServer", path: "src" },
  arguments: {
    name: "Part of a name; without it everything that `path` defines.",
    path: "File or folder to search; without it the working folder.",
  },
  limits: `${limit} symbols, 20 s.`,
}

export const symbols = {
  id: "symbols",
  routingName: "search_symbols",
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
  const { createCodeRepo } = await import("#knowledge/grounding/code-repo.ts")
  await using target = await openTarget(path, context)
  const { isDirectory, shown, handle } = target
  const repo = createCodeRepo(isDirectory ? target.path : "/")
  const accepts = mayRead(target, context)
  const { items, more, timedOut } = await repo.search({
    kind: "symbol",
    text: name,
    limit,
    signal,
    ...(isDirectory ? { accepts } : { file: { fd: handle.fd, name: shown } }),
  })
  const blocks = await show(items, target, signal)
  if (!blocks.length && name !== undefined && isDirectory && !timedOut) {
    const text = RegExp.escape(name)
    const found = await repo.search({ kind: "line", text, limit: maxMentions, signal, accepts })
    const mentions = await show(found.items, target, signal)
    return noneOf(name, mentions)
  }
  const limited = `more than ${limit} symbols, the first ${limit} are shown; narrow the search`
  const note = more ? `\n[${timedOut ? Ripgrep.timeLimitNote : limited}]` : ""
  return {
    text: (blocks.join("\n\n") || "No definition found.") + note,
    title: `${name ?? shown} (${items.length}${more ? "+" : ""})`,
    data: { symbols: items.length, more },
  }
}

function noneOf(name: string, mentions: string[]): Output {
  const where = mentions.length ? `\nThe first lines that mention it:\n\n${mentions.join("\n\n")}` : ""
  return {
    text: `No definition of ${name} found.${where || " Nothing mentions it."}`,
    title: `${name} (0)`,
    data: { symbols: 0, more: false },
  }
}

/** One block per file. Files whose name leads elsewhere by now are left out. */
async function show(
  items: Item[],
  { isDirectory, shown, places }: Target,
  signal: AbortSignal,
): Promise<string[]> {
  const groups = [...Map.groupBy(items, (item) => item.name)].map(([file, found]) => ({
    file,
    found,
    lines: found.map(({ line, text }) => `${line}:${text}`),
  }))
  const good = new Set<object>(
    isDirectory ? await verifyMatches({ root: places[1], groups, signal }) : groups,
  )
  return groups
    .filter((group) => good.has(group))
    .map(({ file, found }) => [posix.join(isDirectory ? shown : "", file), ...found.map(lineOf)].join("\n"))
}

function lineOf({ line, kind, text }: Item): string {
  return `${line}: ${kind ? `${kind}  ` : ""}${Secret.cut(text.trim(), maxText)}`
}

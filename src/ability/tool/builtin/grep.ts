// The `grep` tool: ripgrep's matches, grouped by file and sorted by path, so that equal searches have equal results.
import { posix } from "node:path"
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { compileGlob, type GlobPattern } from "#ability/file/glob-pattern.ts"
import { countMatches, createMatches, type Found, type Group } from "#ability/file/grep-matches.ts"
import { mayRead, needsReading, openTarget, type Target } from "#ability/file/open-target.ts"
import { verifyMatches } from "#ability/file/verify-matches.ts"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"
import { NamedError } from "#util/error.ts"
import { descriptions } from "./descriptions.ts"

const defaultLimit = 100
const maxColumns = 300
/** The search stops after this many lines. */
const maxLines = 500_000

const Parameters = z.strictObject({
  pattern: z.string().min(1),
  path: z.string().min(1).optional(),
  glob: z.string().min(1).optional(),
  ignoreCase: z.boolean().optional(),
  fixed: z.boolean().optional(),
  context: z.int().min(0).max(20).optional(),
  limit: z.int().min(1).max(1_000).optional(),
})
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { pattern: "TODO|FIXME", glob: "*.ts" },
  arguments: {
    pattern: "Regular expression as ripgrep takes it.",
    path: "File or folder to search; without it the working folder.",
    glob: "Only files that fit this pattern.",
    ignoreCase: "Match upper and lower case alike.",
    fixed: "Take the pattern as literal text.",
    context: "Lines to show around each match.",
    limit: `Matches to show; without it ${defaultLimit}.`,
  },
  limits: `20 s; lines are cut after ${maxColumns} characters. Ignored files are left out.`,
}

export const grep = {
  id: "grep",
  routingName: "search_grep",
  description: descriptions.grep,
  category: "search",
  parameters: Parameters,
  readOnly: true,
  permission: ({ path }: Args) => needsReading(path),
  execute,
} satisfies Definition

async function execute(args: Args, context: Context): Promise<Output> {
  const limit = args.limit ?? defaultLimit
  const pattern = args.glob === undefined ? undefined : compileGlob(args.glob)
  await using target = await openTarget(args.path ?? ".", context)
  const folder = target.isDirectory
  const isReadable = mayRead(target, context)
  const accepts = (file: string) => (pattern?.matches(file) ?? true) && isReadable(file)
  const matches = createMatches({ limit, ...(folder ? { accepts } : {}) })
  let lines = 0
  const { code, errors, timedOut } = await Ripgrep.run({
    // A single file is passed on stdin: it is open already, and another file may have its name by now. Matches are
    // flushed line by line, so that those found before the time limit are shown.
    args: [...searching(args, limit), ...(folder ? [...filtering(pattern), "."] : ["--line-buffered", "-"])],
    cwd: folder ? target.path : "/",
    separator: "\n",
    signal: context.signal,
    ...(folder ? {} : { stdin: target.handle.fd }),
    onPiece: (line) => {
      matches.add(line)
      return ++lines < maxLines
    },
  })
  if (code === 2 && errors)
    throw new NamedError(
      "Grep.BadSearch",
      `${errors.trim()}\nIf the pattern is meant literally, set fixed to true. Look-around and back-references are not supported.`,
      { pattern: args.pattern },
    )
  const found = matches.list()
  const groups = folder
    ? await verifyMatches({ root: target.places[1], groups: found.groups, signal: context.signal })
    : found.groups
  return show({ args, target, limit, found, groups, whole: code !== undefined, unread: code === 2, timedOut })
}

function searching(args: Args, limit: number): string[] {
  return [
    ...Ripgrep.linesOf(maxColumns),
    `--max-count=${limit + 1}`,
    ...(args.ignoreCase ? ["--ignore-case"] : []),
    ...(args.fixed ? ["--fixed-strings"] : []),
    ...(args.context ? [`--context=${args.context}`] : []),
    `--regexp=${args.pattern}`,
  ]
}

function filtering(pattern: GlobPattern | undefined): string[] {
  return [...(pattern?.hidden ? ["--hidden", "--glob=!.git"] : []), ...(pattern?.filter ?? [])]
}

function show(options: {
  args: Args
  target: Target
  limit: number
  found: Found
  /** The matches that may be shown. */
  groups: Group[]
  whole: boolean
  unread: boolean
  timedOut: boolean
}): Output {
  const { args, target, limit, found, groups, timedOut } = options
  const lost = found.groups.filter((group) => !groups.includes(group))
  const total = found.total - countMatches(lost)
  const files = found.files - lost.length
  const name = (file: string) => (target.isDirectory ? posix.join(target.shown, file) : target.shown)
  const text = groups.map(({ file, lines }) => [name(file), ...lines].join("\n")).join("\n\n")
  const notes = [
    ...(timedOut ? [Ripgrep.timeLimitNote] : []),
    ...(total > limit || (!options.whole && !timedOut)
      ? [`more than ${limit} matches, the first ${limit} are shown; narrow the search, or raise limit`]
      : []),
    ...(lost.length
      ? [`${lost.length} files left out that changed meanwhile, or have names that are not UTF-8`]
      : []),
    ...(options.unread ? ["some files could not be read"] : []),
  ]
  return {
    text: (text || `No match for ${args.pattern}.`) + (notes.length ? `\n[${notes.join("; ")}]` : ""),
    title: `${args.pattern} (${total > limit ? `${limit}+` : total} in ${files})`,
    data: { matches: Math.min(total, limit), files, more: total > limit || !options.whole },
  }
}

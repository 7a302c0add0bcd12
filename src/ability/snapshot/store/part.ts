// A snapshot: for each path that a call changed, its state before and after. It is stored in the call's message; the
// bytes are in the shadow store under their hashes.
import { z } from "zod"
import { about } from "#util/about.ts"

/** The state of a path; null if nothing is there. Without a hash the bytes were not stored, and `stamp` identifies
 * the version. */
export const State = z
  .object({
    kind: z.enum(["file", "link", "folder", "other"]),
    mode: z.number().describe("permission bits"),
    size: z.number(),
    hash: z.string().optional(),
    stamp: z.string().optional(),
    exact: z.literal(false).optional().describe("git knew only whether it was executable"),
    inode: z.string().optional().describe("of a file that has several names (hard links)"),
  })
  .nullable()
export type State = z.infer<typeof State>

/** Records are not trusted: a path that leads out of the work tree is invalid. */
const Inside = z
  .string()
  .refine((path) => path !== "" && !path.startsWith("/") && !path.includes("\0"))
  .refine((path) => !path.split("/").some((name) => name === "" || name === "." || name === ".."))

export const Change = z.object({
  path: Inside.describe("from the root of the work tree"),
  before: State,
  after: State.optional().describe("missing if the process ended before the scan"),
})
export type Change = z.infer<typeof Change>

/** The mode of a folder before and after a call; null is no folder. */
export const FolderChange = z.object({
  path: Inside,
  before: z.number().nullable(),
  after: z.number().nullable().optional(),
})
export type FolderChange = z.infer<typeof FolderChange>

/** Names that were one file before a call and are not after it, or that were apart before and are one file now. */
export const LinkChange = z.object({
  paths: z.array(Inside).min(2),
  before: z.enum(["linked", "apart"]),
  inode: z.string().optional().describe("of the one file"),
})
export type LinkChange = z.infer<typeof LinkChange>

export const Uncovered = z.object({
  path: about("The file.", z.string()),
  reason: about("Why the earlier content was not stored.", z.string()),
})
export type Uncovered = z.infer<typeof Uncovered>

export const Part = z.object({
  id: z.string(),
  time: z.number(),
  tool: z.string(),
  root: z.string(),
  scope: z.enum(["paths", "worktree"]),
  done: z.boolean().describe("the state after the call is known"),
  files: z.array(Change).default([]),
  list: z.string().optional().describe("the hash of the list of files, if it is long"),
  folders: z.array(Inside).default([]).describe("folders that were created"),
  changedFolders: z
    .array(FolderChange)
    .default([])
    .describe("folders that were removed, or got another mode"),
  links: z.array(LinkChange).default([]).describe("hard links that were made or broken"),
  uncovered: z
    .array(Uncovered)
    .default([])
    .describe("paths that changed, and whose earlier content was not stored"),
  late: z.literal(true).optional().describe("its end was not recorded, so changes of others may be included"),
  note: z.string().optional(),
})
export type Part = z.infer<typeof Part>

/** A folder counts as missing, because it is created and removed with its content. */
export function isSame(left: State | undefined, right: State | undefined): boolean {
  const [one, other] = [withoutFolder(left), withoutFolder(right)]
  if (!one || !other) return one === other
  if (one.kind !== other.kind) return false
  if (one.kind === "other") return !one.stamp || !other.stamp || one.stamp === other.stamp
  return isSameContent(one, other) && isSameMode(one, other)
}

function isSameContent(one: NonNullable<State>, other: NonNullable<State>): boolean {
  if (one.kind !== other.kind || one.size !== other.size) return false
  if (one.hash && other.hash) return one.hash === other.hash
  return one.stamp !== undefined && one.stamp === other.stamp
}

export function withoutFolder<S extends State | undefined>(state: S): S | null {
  return state?.kind === "folder" ? null : state
}

function isSameMode(one: NonNullable<State>, other: NonNullable<State>): boolean {
  if (one.kind === "link") return true
  if (one.exact === false || other.exact === false) return isProgram(one) === isProgram(other)
  return one.mode === other.mode
}

function isProgram({ mode }: NonNullable<State>): boolean {
  return (mode & 0o100) !== 0
}

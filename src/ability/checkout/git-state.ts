// The part of a checkout that is git's own: branches, tags, HEAD, the index, and the commits that the project's address
// does not have. Not carried: the repository's configuration, hooks, and a merge or rebase that is not finished.
import { z } from "zod"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { gitText, runGit } from "./run-git.ts"

const Hash = z.string().regex(/^[0-9a-f]{40,64}$/)
const Ref = z.string().regex(/^refs\/(heads|tags)\/[^\p{Cc}\s~^:?*[\\-][^\p{Cc}\s~^:?*[\\]*$/u)

export const GitState = z.object({
  /** A branch, or the commit of a detached HEAD. */
  head: z.union([Ref, Hash]),
  refs: z.record(Ref, Hash),
  /** The index as a tree; missing if it has conflicts. */
  tree: Hash.optional(),
})
export type GitState = z.infer<typeof GitState>

export async function readGitState(folder: string): Promise<GitState> {
  const at = { cwd: folder }
  const [refs, head, tree] = await Promise.all([
    gitText(["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"], at),
    gitText(["symbolic-ref", "-q", "HEAD"], at).catch(() => gitText(["rev-parse", "HEAD"], at)),
    gitText(["write-tree"], at).catch((error) => {
      Log.warn("the index of a checkout stays on this machine", { error: errorText(error) })
      return undefined
    }),
  ])
  const named = refs
    .split("\n")
    .filter(Boolean)
    .map((line) => [line.slice(line.indexOf(" ") + 1), line.slice(0, line.indexOf(" "))])
    .filter(([name]) => Ref.safeParse(name).success)
  return { head, refs: Object.fromEntries(named), ...(tree ? { tree } : {}) }
}

/** The objects that a clone with `commit` lacks, as a pack; undefined if there are none. */
export async function packOf(folder: string, state: GitState, commit: string): Promise<Buffer | undefined> {
  const wanted = [...Object.values(state.refs), ...(state.tree ? [state.tree] : []), headCommit(state)]
  const input = `${[...new Set(wanted), `^${commit}`].join("\n")}\n`
  const pack = await runGit(["pack-objects", "-q", "--revs", "--stdout", "--threads=1"], {
    cwd: folder,
    input,
  })
  // The number of objects is in the header.
  return pack.readUInt32BE(8) === 0 ? undefined : pack
}

/** Makes the repository of a folder like the state, and checks out the files of the index. Nothing else is left there. */
export async function applyGitState(
  folder: string,
  state: GitState,
  pack: Buffer | undefined,
): Promise<void> {
  const at = { cwd: folder }
  if (pack) await runGit(["unpack-objects", "-q"], { ...at, input: pack })
  const gone = (await readRefs(folder)).filter((name) => !(name in state.refs))
  if (state.head.startsWith("refs/")) await runGit(["symbolic-ref", "HEAD", state.head], at)
  else await runGit(["update-ref", "--no-deref", "HEAD", state.head], at)
  // Not in one transaction: git refuses to create `topic/sub` while it removes `topic`.
  await updateRefs(
    folder,
    gone.map((name) => `delete ${name}`),
  )
  await updateRefs(
    folder,
    Object.entries(state.refs).map(([name, hash]) => `update ${name} ${hash}`),
  )
  await runGit(["read-tree", "--reset", state.tree ?? "HEAD"], at)
  await runGit(["checkout-index", "--all", "--force", "--index"], at)
}

async function updateRefs(folder: string, changes: string[]): Promise<void> {
  if (changes.length)
    await runGit(["update-ref", "--stdin"], { cwd: folder, input: `${changes.join("\n")}\n` })
}

function headCommit({ head, refs }: GitState): string {
  // A branch without a commit has none to keep.
  return head.startsWith("refs/") ? (refs[head] ?? Object.values(refs)[0] ?? head) : head
}

async function readRefs(folder: string): Promise<string[]> {
  const listed = await gitText(["for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags"], {
    cwd: folder,
  })
  return listed.split("\n").filter(Boolean)
}

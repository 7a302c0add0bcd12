// Shows a unified diff between the files before some calls and the files now. Git compares two trees in the shadow store,
// so that no attribute or configuration of the project applies.
import { rmSync } from "node:fs"
import { join } from "node:path"
import { stateOf } from "#ability/snapshot/scan/state-of.ts"
import type { Snapshot } from "#ability/snapshot/store/list.ts"
import { notesOf } from "#ability/snapshot/store/list.ts"
import type { State, Uncovered } from "#ability/snapshot/store/part.ts"
import { runGit } from "#ability/snapshot/store/run-git.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { createId } from "#util/id.ts"
import { differingLinks } from "./apply-links.ts"
import { emptyFolders, type Plan, plan } from "./plan.ts"

export type Diff = {
  files: { path: string; change: "added" | "removed" | "changed" }[]
  /** The unified diff, or only line counts for each file (`stat`). */
  text: string
  conflicts: Uncovered[]
  /** What the snapshots may not cover, one line each. */
  notes: string[]
}

const maxBytes = 64_000_000

export async function showDiff(
  shadow: Shadow,
  snapshots: readonly Snapshot[],
  options: { stat?: boolean } = {},
): Promise<Diff> {
  const made = await plan(shadow, snapshots)
  const { actions, conflicts } = made
  const more = describeMetadata(shadow, made)
  const notes = notesOf(snapshots)
  const contents = actions.filter(({ from, to }) => to === null || from?.hash !== to.hash)
  if (!contents.length) return { files: filesOf(made, actions), text: more, conflicts, notes }
  shadow.store.ensure()
  const sides = contents.map(({ path, to }) => ({
    path,
    old: to,
    now: stateOf(shadow, path, { keep: true, maxBytes }),
  }))
  const old = await treeOf(shadow, sides, ({ old }) => old)
  const now = await treeOf(shadow, sides, ({ now }) => now)
  const form = options.stat ? ["--stat=120"] : ["-p"]
  const args = ["diff-tree", "-r", ...form, "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color"]
  const output = await runGit({
    gitDir: shadow.store.gitDir,
    objects: shadow.store.objects,
    args: [...args, old, now],
  })
  return { files: filesOf(made, actions), text: output.toString() + more, conflicts, notes }
}

/** The names of folders end with a slash. */
function filesOf({ folderActions }: Plan, actions: Plan["actions"]): Diff["files"] {
  return [
    ...actions.map(({ path, from, to }) => ({ path, change: changeOf(to, from) })),
    ...folderActions.map(({ path, from }) => ({
      path: `${path}/`,
      change: from === null ? ("removed" as const) : ("changed" as const),
    })),
  ]
}

type Side = { path: string; old: State; now: State }

async function treeOf(shadow: Shadow, sides: Side[], pick: (side: Side) => State): Promise<string> {
  const { gitDir, objects } = shadow.store
  const index = join(shadow.folder, createId("tmp"))
  const rows = sides.flatMap((side) => {
    const state = pick(side)
    return state?.hash ? [`${modeOf(state)} ${state.hash}\t${side.path}\0`] : []
  })
  try {
    await runGit({
      gitDir,
      objects,
      index,
      args: ["update-index", "-z", "--index-info"],
      input: rows.join(""),
    })
    return (await runGit({ gitDir, objects, index, args: ["write-tree"] })).toString().trim()
  } finally {
    rmSync(index, { force: true })
  }
}

function modeOf({ kind, mode }: NonNullable<State>): string {
  if (kind === "link") return "120000"
  return mode & 0o100 ? "100755" : "100644"
}

function changeOf(old: State, now: State): "added" | "removed" | "changed" {
  if (!old) return "added"
  return now ? "changed" : "removed"
}

/** Changes that git's diff does not show: modes, folders, hard links, named pipes. One line each, in a form that
 * `git apply` ignores. */
function describeMetadata(shadow: Shadow, plan: Plan): string {
  const lines = [
    ...plan.actions.flatMap(({ path, from, to }) => {
      if (from?.kind === "other" && !to)
        return [`${from.stamp?.split(" ").slice(0, -1).join(" ")} made: ${path}`]
      if (from?.kind !== "file" || to?.kind !== "file" || to.exact === false || from.mode === to.mode)
        return []
      return [`mode changed: ${path} (${octal(to.mode)} to ${octal(from.mode)})`]
    }),
    ...plan.folderActions.map(({ path, from, to }) =>
      from === null ? `folder removed: ${path}/` : `mode changed: ${path}/ (${octal(to)} to ${octal(from)})`,
    ),
    ...emptyFolders(shadow, plan).map((path) => `folder made: ${path}/`),
    ...differingLinks(shadow, plan.links).map(
      ({ paths, before }) => `hard link ${before === "linked" ? "broken" : "made"}: ${paths.join(", ")}`,
    ),
  ]
  return lines.map((line) => `${line.replaceAll(/\p{Cc}/gu, "?")}\n`).join("")
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0")
}

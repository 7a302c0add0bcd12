// Opens files and folders for reading: the path of a call, which must be in a folder that the call may read, and files
// that a search found. The error for a missing path suggests similar ones.
import { readdirSync } from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import { outputFolder } from "#ability/call/output-folder.ts"
import { fetchOutput, ownOutputPath } from "#ability/call/shared-output.ts"
import type { Context, Need } from "#ability/call/types.ts"
import { isStricter } from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import { errorCode, NamedError } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import {
  type Handle,
  handlePath,
  isInside,
  openInside,
  PathInvalid,
  PathOutside,
  refuseSwapped,
  resolveInside,
} from "#util/file/resolve-inside.ts"
import { nearest } from "#util/nearest.ts"

export type Target = {
  handle: Handle
  /** As a person would write it, relative to the folder of the Instance. */
  shown: string
  /** The path by name, and the real path of what is open. */
  places: [named: string, real: string]
  /** A path to what is open, for programs that need one. */
  path: string
  isDirectory: boolean
  size: number
} & Disposable

export class Missing extends NamedError {
  declare readonly data: { path: string; nearest: string[] }

  constructor(path: string, near: string[], available: string | undefined) {
    const hint = near.length ? ` Did you mean ${near.join(" or ")}?` : (available ?? "")
    super("Tool.Missing", `${JSON.stringify(path)} does not exist.${hint}`, { path, nearest: near })
  }
}

/** The permissions that a tool needs to read `path`. */
export function needsReading(path = "."): Need[] {
  return [{ permission: "file.read", target: resolve(Instance.directory, ownOutputPath(path)) }]
}

/** Opens a path in the workspace, in the session's outputs, or in a folder that was granted for this call. Throws if a link
 * leads elsewhere. */
export async function openTarget(path: string, context: Context): Promise<Target> {
  const absolute = resolve(Instance.directory, ownOutputPath(path))
  const root = rootOf(absolute, context.sessionId)
  if (root !== Instance.worktree) await fetchOutput(context.sessionId, absolute)
  const granted = context.granted ?? []
  const handle = await open([root, ...granted], absolute)
  try {
    refuseSwapped(path, handle.place, context.reals)
  } catch (error) {
    handle[Symbol.dispose]()
    throw error
  }
  return {
    handle,
    places: [absolute, handle.place],
    shown:
      root === Instance.worktree && isInside(root, absolute)
        ? relative(Instance.directory, absolute) || "."
        : absolute,
    path: handlePath(handle, absolute),
    isDirectory: handle.stat.isDirectory(),
    size: handle.stat.size,
    [Symbol.dispose]: handle[Symbol.dispose],
  }
}

/**
 * Returns a filter for the files of a folder, by their paths relative to it. A file is left out if its rule is stricter
 * than the folder's: it is denied, or it needs a question that the folder did not need.
 */
export function mayRead({ places }: Target, { judge }: Context): (file: string) => boolean {
  if (!judge) return () => true
  const actionOf = (target: string) => judge({ permission: "file.read", target })
  const folders = [...new Set(places)].map((path) => ({ path, action: actionOf(path) }))
  return (file) => folders.every(({ path, action }) => !isStricter(actionOf(join(path, file)), action))
}

/** Opens a file that a search found, by its path relative to the real folder `root`. Undefined if it is missing, or if the
 * path has a link in it: the rules for the path would not be those for the open file. */
export function openReal(root: string, path: string): Handle | undefined {
  let handle: Handle | undefined
  try {
    handle = openInside([root], path)
    if (handle.place === join(root, path)) return handle
  } catch (error) {
    const isExpected = error instanceof PathOutside || error instanceof PathInvalid
    if (!isExpected && errorCode(error) === undefined) throw error
  }
  handle?.[Symbol.dispose]()
  return undefined
}

/** The folder that must contain a path: the session's outputs for one of those, else the workspace. */
function rootOf(absolute: string, sessionId: string): string {
  const outputs = outputFolder(sessionId)
  return isInside(outputs, absolute) ? outputs : Instance.worktree
}

async function open(roots: [string, ...string[]], absolute: string): Promise<Handle> {
  try {
    return openInside(roots, absolute)
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error
    throw await missing(roots.find((root) => isInside(root, absolute)) ?? roots[0], absolute)
  }
}

/** Names similar to the missing one, in the deepest existing folder of its path. */
async function missing(root: string, absolute: string): Promise<Missing> {
  let folder = dirname(absolute)
  let name = basename(absolute)
  const show = (path: string) => relative(Instance.directory, path) || "."
  for (; isInside(root, folder); name = basename(folder), folder = dirname(folder)) {
    const names = statOf(folder) && (await namesIn(root, folder))
    if (!names) continue
    const near: string[] = []
    for (let left = names; near.length < 3; left = left.filter((other) => other !== near.at(-1))) {
      const next = nearest(name, left)
      if (next === undefined) break
      near.push(next)
    }
    const paths = near.map((other) => JSON.stringify(show(join(folder, other))))
    return new Missing(
      show(absolute),
      paths,
      ` ${JSON.stringify(show(folder))} exists; use ls to see what is in it.`,
    )
  }
  return new Missing(show(absolute), [], undefined)
}

async function namesIn(root: string, folder: string): Promise<string[] | undefined> {
  try {
    return readdirSync(await resolveInside(root, folder))
  } catch {
    return undefined
  }
}

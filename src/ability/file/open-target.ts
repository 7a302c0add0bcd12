// Opens the file or folder that a call names and checks that reading is allowed there. A missing name is answered
// with similar ones.
import { readdirSync } from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import { rootOf } from "#ability/call/permit-reading.ts"
import type { Context, Need } from "#ability/call/types.ts"
import { Instance } from "#kernel/instance.ts"
import { errorCode, NamedError } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import {
  type Handle,
  handlePath,
  isInside,
  openInside,
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

/** What a tool that reads `path` needs. */
export function needsReading(path = "."): Need[] {
  return [{ permission: "file.read", target: resolve(Instance.directory, path) }]
}

/** The open file is in the workspace, among the session's outputs, or in what was granted for this call. */
export async function openTarget(path: string, context: Context): Promise<Target> {
  const absolute = resolve(Instance.directory, path)
  const root = rootOf(path, context.sessionId)
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
      ` ${JSON.stringify(show(folder))} is there; ls shows what is in it.`,
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

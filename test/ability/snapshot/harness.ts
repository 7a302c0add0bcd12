// A project whose files are changed like in a session: the snapshot of each change is stored in a message.
import { spawnSync } from "node:child_process"
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

export const sessionId = "sess_test"

/** Run `fn` in the Instance of a new folder. */
export async function inProject(fn: (tmp: Tmp) => Promise<void>, options: { git?: boolean } = {}) {
  await using tmp = await tmpdir(options)
  try {
    await Instance.provide({ directory: tmp.path, fn: () => fn(tmp) })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}

/** Change something with a snapshot around it; gives the id of its message. */
export async function change(
  paths: string[] | "worktree",
  work: () => unknown,
  options: { sessionId?: string; amend?: (part: Snapshot.Part) => object } = {},
): Promise<{ messageId: string; part: Snapshot.Part | undefined }> {
  const id = options.sessionId ?? sessionId
  const call: Message.Call = { id: "call_1", name: "test", arguments: {}, approval: "approved" }
  const request = Message.make({
    sessionId: id,
    parentId: null,
    type: "tool_request",
    data: { calls: [call] },
  })
  await MessageStore.write(request)
  const asked = { sessionId: id, messageId: request.id, callId: call.id, tool: "test" }
  const absolute = paths === "worktree" ? paths : paths.map((path) => join(Instance.worktree, path))
  const taken = await Snapshot.take({ ...asked, paths: absolute })
  await work()
  const part = await taken?.finish()
  if (part) {
    call.snapshot = (options.amend?.(part) ?? part) as Message.Json
    await MessageStore.write(request)
  }
  taken?.close()
  return { messageId: request.id, part }
}

/** A command in the project, as the bash tool would run it. */
export function command(script: string): Promise<{ messageId: string; part: Snapshot.Part | undefined }> {
  return change("worktree", () => sh(script))
}

export function sh(script: string): void {
  const { status, stderr } = spawnSync("bash", ["-c", script], { cwd: Instance.worktree, encoding: "utf8" })
  if (status !== 0) throw new Error(`${script}: ${stderr}`)
}

/** Revert, and keep what is needed to revert that. */
export async function revert(
  messageId: string,
  options: { force?: boolean } = {},
): Promise<Snapshot.Reverted & { messageId: string }> {
  const begun = await Snapshot.resume({ sessionId, ...options })
  if (begun) return note(begun.reverted)
  return note(await Snapshot.revert({ sessionId, messageId, ...options }))
}

async function note(reverted: Snapshot.Reverted): Promise<Snapshot.Reverted & { messageId: string }> {
  const message = Message.make({
    sessionId,
    parentId: null,
    type: "system_control",
    data: { control: "revert", parameters: { snapshot: reverted.part as Message.Json } },
  })
  await MessageStore.write(message)
  await Snapshot.forget(sessionId)
  return { ...reverted, messageId: message.id }
}

/** Every file and link below a folder with its mode and bytes; of the others the names. Without git's own. */
export function imageOf(folder: string, prefix = ""): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    const path = join(prefix, entry.name)
    if (path === ".git") continue
    if (entry.isDirectory()) Object.assign(found, imageOf(folder, path))
    else if (entry.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(folder, path))}`
    else if (entry.isFile()) {
      const mode = (lstatSync(join(folder, path)).mode & 0o7777).toString(8)
      found[path] = `${mode} ${readFileSync(join(folder, path), "latin1")}`
    }
  }
  return found
}

/** The same with folders, named pipes and sockets, and with the names that are one file (hard links). */
export function treeOf(folder: string): Record<string, string> {
  const found: Record<string, string> = imageOf(folder)
  const names = new Map<string, string>()
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    if (path === ".git" || path.startsWith(".git/")) continue
    const stat = lstatSync(join(folder, path))
    const mode = (stat.mode & 0o7777).toString(8)
    if (stat.isDirectory()) found[`${path}/`] = mode
    else if (stat.isFIFO() || stat.isSocket()) found[path] = `special ${mode}`
    else if (stat.nlink > 1) {
      const first = names.get(String(stat.ino)) ?? path
      names.set(String(stat.ino), first)
      found[path] += ` = ${first}`
    }
  }
  return found
}

/** The paths in which two images differ; comparing long contents line by line would take for ever. */
export function differences(one: Record<string, string>, other: Record<string, string>): string[] {
  const paths = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...paths].filter((path) => one[path] !== other[path])
}

// Rebuilds the record of a session from its messages if its file cannot be read. Metadata and links to other sessions are
// only in the record, so they are lost unless the damaged file still has them. That file stays in quarantine.
import { isAbsolute } from "node:path"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { gapsIn } from "#knowledge/message/gaps.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { titleOf } from "./prompt-part.ts"

/** Stores and returns the record; undefined if there is no damaged file, or too little is known. `read` parses a record;
 * `isInPlace`: the damaged file was not moved to the quarantine yet. */
export async function rebuildRecord(
  key: readonly string[],
  { read, isInPlace }: { read: (value: unknown) => object | undefined; isInPlace: boolean },
): Promise<object | undefined> {
  const [, projectId, id] = key as [string, string, string]
  if (!isInPlace && !(await Storage.quarantined(key)).length) return undefined
  const all = await MessageStore.list(id)
  const gaps = new Set(gapsIn(all).map((gap) => gap.id))
  const messages = all.filter((message) => !gaps.has(message.id))
  if (isInPlace && messages.length) await Storage.quarantine(key, (value) => !read(value))
  const newest = (await Storage.quarantined(key)).at(-1)
  if (newest === undefined) return undefined
  const damaged = await Storage.readQuarantined(newest)
  const whole = "value" in damaged ? read(damaged.value) : undefined
  const directory = directoryIn(await Storage.headOf(newest)) ?? rootIn(messages) ?? directoryHere(projectId)
  if (!whole && (!messages.length || directory === undefined)) return undefined
  const made = whole ?? { id, projectId, directory, ...factsOf(messages) }
  const record = await Storage.update<{ id?: string }>(
    key,
    (draft) => void (draft.id ?? Object.assign(draft, made)),
    {
      initial: {},
    },
  )
  Log.warn(`The record of session ${id} could not be read and was rebuilt from its messages`, {
    quarantined: newest.place,
  })
  return record
}

function factsOf(messages: readonly Message.Info[]) {
  const usage: Record<string, number> = {}
  let mode = "act"
  for (const message of messages) {
    for (const [name, count] of Object.entries(message.usage ?? {})) usage[name] = (usage[name] ?? 0) + count
    if (message.type === "system_control" && message.data.control === "mode_change")
      mode = message.data.parameters.to === "plan" ? "plan" : "act"
  }
  const first = messages.find((message) => message.type === "text" && message.data.role === "user")
  const agent = messages.findLast((message) => message.agent)?.agent
  const model = messages.findLast((message) => message.model)?.model
  return {
    title: first?.type === "text" ? titleOf(first.data.parts.filter((part) => part.type === "text")) : "",
    ...(agent ? { agent } : {}),
    ...(model ? { model } : {}),
    mode,
    branch: messages.at(-1)!.branch,
    usage,
    time: { created: messages[0]!.time, updated: messages.at(-1)!.time },
  }
}

/** A truncated record usually still begins with its folder. */
function directoryIn(head: string): string | undefined {
  const [, text] = /"directory":("(?:[^"\\]|\\.)*")/.exec(head) ?? []
  try {
    return text === undefined ? undefined : ifFolder(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Snapshots name their folder. */
function rootIn(messages: readonly Message.Info[]): string | undefined {
  for (const message of messages)
    for (const { snapshot } of message.type === "tool_request" ? message.data.calls : []) {
      const root = ifFolder((snapshot as { root?: unknown } | undefined)?.root)
      if (root !== undefined) return root
    }
  return undefined
}

/** The caller works in the same project. */
function directoryHere(projectId: string): string | undefined {
  return Instance.isProvided && Instance.project.id === projectId ? Instance.directory : undefined
}

function ifFolder(value: unknown): string | undefined {
  return typeof value === "string" && isAbsolute(value) ? value : undefined
}

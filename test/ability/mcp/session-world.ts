// An instance whose sessions have servers that their clients added.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Mcp from "#ability/mcp/mcp.ts"
import { runTool } from "#ability/tool/run-tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { tinyServer } from "./servers.ts"

type World = { tmp: Tmp; events: Bus.Event[]; log(): string }

export async function inInstance(fn: (world: World) => Promise<void>, trusted = false): Promise<void> {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "..", "log")
  const log = () => (existsSync(file) ? readFileSync(file, "utf8") : "")
  const events: Bus.Event[] = []
  Log.setFile(file)
  try {
    if (trusted) await Trust.grant(tmp.path)
    await Instance.provide({
      directory: tmp.path,
      async fn() {
        Bus.subscribe("*", (event) => void events.push(event))
        await fn({ tmp, events, log })
      },
    })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
    Log.setFile(undefined)
  }
}

let count = 0
/** A word that no other process has in its command line. */
export const unique = () => `brought-${process.pid}-${++count}`
export const one = (name: string, log?: string) => tinyServer({ tools: [{ name }] }, log)
export const serverTools = () => ToolRegistry.list().flatMap(({ id, server }) => (server ? [id] : []))
export const idsFor = async (sessionId?: string) =>
  (await Mcp.list(sessionId === undefined ? undefined : [sessionId])).map(({ id }) => id)

/** Known and up, however slow this machine is. */
export async function up(...ids: string[]): Promise<void> {
  for (const id of ids) {
    const { state, error } = await Mcp.connect(id)
    assert.equal(state, "connected", error)
  }
}

export async function call(name: string): Promise<string> {
  const context = { sessionId: "a", messageId: "m", callId: "c", signal: new AbortController().signal }
  const slots = { permit: () => undefined }
  return (await runTool({ call: { id: "c", name, arguments: {} }, context, slots })).text
}

// The process inside a sandbox: it runs the prompts of one session, with their tools, MCP servers and commands. Records,
// models, questions, snapshots and events belong to the parent, at the other end of descriptor 3.
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { Socket } from "node:net"
import { dirname, join } from "node:path"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import { setSessionServers } from "#ability/mcp/if-configured.ts"
import type { Added } from "#ability/mcp/load-servers.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Provider from "#ability/provider/provider.ts"
import { openBridge } from "#ability/sandbox/open-bridge.ts"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { Prompt } from "#edge/sandbox/wire/doors.ts"
import { createPeer, type Peer } from "#edge/sandbox/wire/peer.ts"
import { startParts } from "#engine/host/bootstrap.ts"
import { waitFor } from "#engine/model/retry.ts"
import type { Work } from "#engine/run/run.ts"
import { runHere } from "#engine/turn/prompt.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trace from "#kernel/trace.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { fetchImages } from "./fetch-images.ts"
import { createGuestModels } from "./guest-models.ts"
import { createGuestRecords } from "./guest-records.ts"

/** Events that the parent publishes itself, or that concern this process alone. */
const own = new Set([
  ...[Permission.Requested, Permission.Replied, Elicitation.Requested, Elicitation.Replied].map(
    ({ type }) => type,
  ),
  ...[Snapshot.Created.type, MessageStore.Created.type, MessageStore.Updated.type],
  Config.Changed.type,
  Bus.Disposed.type,
])

openBridge()
// Programs of the project compile into folders of their own.
delete process.env.NODE_COMPILE_CACHE
const pipe = new Socket({ fd: 3, readable: true, writable: true })
const peer: Peer = createPeer(pipe, {
  ask: answer,
  note: (name, args) => (name === "told" ? records.tell(args) : models.takeParts(args)),
})
const records = createGuestRecords(peer.ask)
const models = createGuestModels((name, args, signal) => {
  if (name === "model.stream") records.begin()
  return peer.ask(name, args, signal)
})
let given: string | undefined
Storage.use(records.backend)
GlobalBus.subscribe(({ type, payload }) => {
  if (!own.has(type)) peer.note("event", { type, payload })
})
// Without its parent this process has nobody to ask.
void peer.closed.then(() => process.exit(1))

async function answer(name: string, args: unknown, signal: AbortSignal): Promise<unknown> {
  if (name !== "prompt") throw new Error(`The sandbox cannot do "${name}".`)
  const prompt = Prompt.parse(args)
  records.prepare(prompt.records)
  models.expect(prompt.model)
  await learn(prompt.given)
  const { directory } = prompt.given
  return Instance.provide({
    directory,
    init: startParts,
    async fn() {
      useDoors()
      const { trace } = prompt.given
      // All sessions of this process are tasks of the one prompt.
      if (trace) Trace.use(() => trace)
      await setSessionServers(prompt.work.sessionId, prompt.given.servers as readonly Added[])
      const { sessionId } = prompt.work
      const bringBack = await fetchImages(peer.ask, sessionId, prompt.images)
      try {
        const { id } = await runHere(workOf(prompt.work), signal)
        return { messageId: id }
      } finally {
        await bringBack()
      }
    },
  })
}

/** Takes the person's configuration and the review of the folder from the parent. */
async function learn({ directory, layers, files, trust }: Prompt["given"]): Promise<void> {
  const text = JSON.stringify([layers, files, trust])
  if (text === given) return
  const isFirst = given === undefined
  given = text
  rmSync(Global.config(), { recursive: true, force: true })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(Global.config(), path)), { recursive: true })
    writeFileSync(join(Global.config(), path), content)
  }
  Config.setGiven(layers as Parameters<typeof Config.setGiven>[0])
  if (trust)
    await Reviewed.change(
      trust.directory,
      (files) => {
        for (const path of Object.keys(files)) delete files[path]
        Object.assign(files, trust.files)
      },
      { keep: false },
    )
  if (!isFirst) await Instance.provide({ directory, init: startParts, fn: () => Config.reload() })
}

function useDoors(): void {
  Provider.useRemote(models.remote)
  Permission.useAsker(async (question) => {
    const { sessionId, messageId, callId, agent = "", agents, task, tool, title, preview } = question
    const needs = question.needs.map(({ permission, target, fingerprint }) => ({
      permission,
      target,
      ...(fingerprint ? { fingerprint } : {}),
    }))
    const said = {
      ...{ sessionId, messageId, callId, agent, tool, title, needs },
      ...(agents ? { agents } : {}),
      ...(task ? { task } : {}),
      ...(preview ? { preview } : {}),
      ...(question.protected ? { protected: true } : {}),
      onlyListeners: question.onlyListeners === true,
    }
    return (await peer.ask("permission.ask", said, question.signal)) as Permission.Answer
  })
  // Whether somebody listens for questions is the parent's business.
  if (!Bus.isHeard(Permission.Requested)) Bus.subscribe(Permission.Requested, () => {})
  Elicitation.useAsker(async ({ server, sessionId, question, signal, onlyListeners }) => {
    const said = {
      server,
      question,
      onlyListeners: onlyListeners === true,
      ...(sessionId ? { sessionId } : {}),
    }
    return ((await peer.ask("elicitation.ask", said, signal)) ?? undefined) as Awaited<
      ReturnType<Elicitation.Asker>
    >
  })
  Snapshot.useTaker(async ({ note, ...asked }) => {
    const taken = await peer.ask("snapshot.take", { ...asked, ...(note ? { note } : {}) })
    if (taken === null) return undefined
    const { handle, part } = taken as { handle: number; part: Snapshot.Part }
    return {
      part,
      async finish() {
        return Object.assign(part, await peer.ask("snapshot.finish", { handle }))
      },
      close: () => void peer.ask("snapshot.close", { handle }).catch(() => {}),
    }
  })
}

function workOf({ promptId, isJob = false, timing, ...rest }: Prompt["work"]): Work {
  const { sessionId, parts } = rest
  const stored = promptId
    ? { id: promptId, sessionId, written: Promise.resolve(parts), hasBegun: rest.isResumed ?? false, isJob }
    : undefined
  return { ...rest, command: rest.command, timing: { ...timing, wait: waitFor }, stored } as Work
}

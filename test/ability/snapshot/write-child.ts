// A process that runs one call of `write` or `edit` with a snapshot around it, and is killed at one of its file calls.
import { killAt } from "../../fixture/kill-at-call.ts"

const { writeFileSync } = await import("node:fs")
const { Instance } = await import("#kernel/instance.ts")
const Storage = await import("#kernel/storage/storage.ts")
const Snapshot = await import("#ability/snapshot/snapshot.ts")
const Message = await import("#knowledge/message/message.ts")
const MessageStore = await import("#knowledge/message/message-store.ts")
const { stepOf } = await import("#ability/tool/run-tool.ts")
const { sessionId } = await import("./harness.ts")

const [directory = "", name = "", args = "{}", calls = "0"] = process.argv.slice(2)

await Instance.provide({
  directory,
  async fn() {
    const call = { id: "call_1", name, arguments: JSON.parse(args), approval: "approved" as const }
    const message = { sessionId, parentId: null, type: "tool_request" as const, data: { calls: [call] } }
    const request = Message.make(message)
    await MessageStore.write(request)
    writeFileSync(1, `${request.id}\n`)
    const signal = new AbortController().signal
    const context = { sessionId, messageId: request.id, callId: call.id, signal }
    const step = await stepOf(call, context)
    const paths = step.needs.map(({ target }) => target)
    await Snapshot.take({ ...context, tool: name, paths })
    killAt(Number(calls))
    await step.tool.execute(step.args, context)
    killAt(0)
    writeFileSync(1, "survived\n")
  },
})
await Storage.close()

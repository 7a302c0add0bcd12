// A process that runs one command in the foreground and one in the background, both sleeping NAP seconds, and waits:
// node host.ts FOLDER NAP. SIGTERM ends it like the command line does, SIGUSR2 by process.exit().
import { existsSync } from "node:fs"
import { join } from "node:path"
import { runTool } from "#ability/tool/run-tool.ts"
import { Instance } from "#kernel/instance.ts"
import { until } from "../../fixture/until.ts"

const [directory, nap] = process.argv.slice(2) as [string, string]
const abort = new AbortController()
process.on("SIGUSR2", () => process.exit(0))
process.on("SIGTERM", async () => {
  abort.abort()
  await Instance.disposeAll()
  process.exit(0)
})

await Instance.provide({
  directory,
  fn: async () => {
    void run({ command: `touch front; sleep ${nap}` })
    void run({ command: `setsid sleep ${nap} & touch back; sleep ${nap} & wait`, background: true })
    await until(() => ["front", "back"].every((name) => existsSync(join(directory, name))), "both run")
    process.stdout.write("ready\n")
    await new Promise((resolve) => setTimeout(resolve, 120_000))
  },
})

function run(args: { command: string; background?: boolean }) {
  const context = { sessionId: "ses_1", messageId: "msg_1", callId: "call_1", signal: abort.signal }
  return runTool({
    call: { id: "call_1", name: "bash", arguments: args },
    context,
    slots: { permit: () => undefined },
  })
}

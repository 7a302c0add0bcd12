// The process that bench/shell.ts measures: a command that prints 1 GB, through the gate. Sends how far the peak of the
// resident memory rose above a command that prints little.
import { runTool } from "#ability/tool/run-tool.ts"
import { Instance } from "#kernel/instance.ts"

await Instance.provide({
  directory: process.argv[2]!,
  fn: async () => {
    await flood(1_000_000)
    const before = process.resourceUsage().maxRSS
    await flood(1_000_000_000)
    process.send?.((process.resourceUsage().maxRSS - before) * 1024)
  },
})
await Instance.disposeAll()

async function flood(bytes: number) {
  const signal = AbortSignal.timeout(60_000)
  const context = { sessionId: "bench", messageId: "bench", callId: "flood", signal, report: () => {} }
  const call = {
    id: "flood",
    name: "bash",
    arguments: { command: `yes "some text of a line" | head -c ${bytes}` },
  }
  const result = await runTool({ call, context, slots: { permit: () => undefined } })
  if (result.status !== "success" || Buffer.byteLength(result.text) > 50_000) throw new Error(result.text)
}

// The process that bench/tools.ts measures: a tool that prints 1 GB, through the gate. Sends how far the peak of the
// resident memory rose above a call that prints little.

import { spawn } from "node:child_process"
import { z } from "zod"
import { createOutput } from "#ability/call/output.ts"
import { runTool } from "#ability/tool/run-tool.ts"
import * as Tool from "#ability/tool/tool.ts"
import { Instance } from "#kernel/instance.ts"

Tool.define("flood", () => ({
  description: "Print a lot",
  parameters: z.object({ bytes: z.number() }),
  async execute({ bytes }, context) {
    const output = createOutput(context)
    const child = spawn("sh", ["-c", `yes "some text of a line" | head -c ${bytes}`])
    await output.read(child.stdout)
    return { text: await output.finish() }
  },
}))

await Instance.provide({
  directory: process.argv[2]!,
  fn: async () => {
    await flood(1_000_000)
    const before = process.resourceUsage().maxRSS
    await flood(1_000_000_000)
    process.send?.((process.resourceUsage().maxRSS - before) * 1024)
  },
})

async function flood(bytes: number) {
  const context = {
    sessionId: "bench",
    messageId: "bench",
    callId: "flood",
    signal: AbortSignal.timeout(60_000),
  }
  const call = { id: "flood", name: "flood", arguments: { bytes } }
  const result = await runTool({ call, context, slots: { permit: () => undefined } })
  if (result.status !== "success" || Buffer.byteLength(result.text) > 50_000) throw new Error(result.text)
}

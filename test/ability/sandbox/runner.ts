// Starts boundaries for a test, as the user that this process was started as: one program per message.
import { text } from "node:stream/consumers"
import { type Options, type Policy, startBoundary } from "#ability/sandbox/sandbox.ts"

export type Order = { id: number; policy: Policy; options: Options }

process.on("message", async ({ id, policy, options }: Order) => {
  try {
    const { child, status, ended } = await startBoundary(policy, options)
    child.stdin!.end()
    const [out, errors, end] = await Promise.all([text(child.stdout!), text(child.stderr!), ended])
    process.send!({ id, out, errors, status, ...end })
  } catch (error) {
    const { name, message } = error as Error
    process.send!({ id, out: "", errors: `${name}: ${message}` })
  }
})
process.send!("ready")

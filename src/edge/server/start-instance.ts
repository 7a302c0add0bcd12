// Starts an instance that clients use for a long time: its parts, the watch over its configuration, and the recovery of
// prompts that an earlier process accepted and did not start.
import { startParts } from "#engine/host/bootstrap.ts"
import * as Session from "#engine/session/session.ts"
import * as Config from "#kernel/config/config.ts"

export async function startInstance(): Promise<void> {
  await startParts()
  await Config.watch()
  await Session.recover()
}

// Starts the process of a sandbox while the rest of the command is still being loaded. It imports no more than that needs.
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { startAhead } from "./host/ahead.ts"
import { settingsOf } from "./host/policy-of.ts"

/** For the current folder, as `--sandbox` asks for. Resolves when the process starts by itself. */
export async function startEarly(): Promise<void> {
  const config = settingsOf(true, (await Config.get()).adapters?.sandbox)
  if (config) await startAhead(config, Instance.directory)
}

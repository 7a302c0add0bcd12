// Registers the tool that runs promoted scripts, before the first request of a prompt. Without scripts it loads nothing, and
// scripts that cannot be read do not fail the prompt.
import { existsSync } from "node:fs"
import * as Config from "#kernel/config/config.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { scriptFile } from "./script-place.ts"

export async function prepareScripts(): Promise<void> {
  const { scripts } = await Config.get()
  if (scripts?.persistence !== "callback" && !existsSync(scriptFile(scripts))) return
  const { offerScripts } = await import("./script-tool.ts")
  await offerScripts().catch((error) => Log.warn(errorText(error)))
}

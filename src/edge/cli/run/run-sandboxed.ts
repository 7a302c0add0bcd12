// `vitamin run --sandbox`: the process inside starts before the rest of the command is loaded.
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { startEarly } from "#edge/sandbox/start-early.ts"

export function runSandboxed(options: FolderOptions, run: () => Promise<void>): Promise<void> {
  return inInstance(options, async () => {
    await startEarly()
    await run()
  })
}

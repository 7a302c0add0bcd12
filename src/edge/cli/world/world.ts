// `vitamin world run`: runs the stories of a folder and reports them; with --watch, until it is interrupted.
import { createWorld, type World } from "#ability/world/create-world.ts"
import { exitCodes } from "#edge/cli/process/exit.ts"
import { directoryOf, inInstance, onSignal } from "#edge/cli/process/in-instance.ts"
import { NamedError } from "#util/error.ts"
import { type ReportOptions, reportStories } from "./report-stories.ts"

type Options = ReportOptions & { pattern?: string[] | undefined; watch?: boolean | undefined }

class NoStories extends NamedError {
  constructor(patterns: readonly string[], directory: string) {
    const which = patterns.length ? `fits ${patterns.join(", ")} in` : "is in"
    super("World.NoStories", `No story file (*.stories.ts) ${which} ${directory}.`)
  }
}

export async function runWorld(options: Options): Promise<void> {
  const ending = new AbortController()
  const stopListening = onSignal((code) => {
    process.exitCode = code
    ending.abort()
  })
  try {
    await inInstance(options, async () => {
      const world = await createWorld(directoryOf(options))
      try {
        if (options.watch)
          await (await import("./watch-stories.ts")).watchStories(world, options, ending.signal)
        else await runOnce(world, options, ending.signal)
      } catch (error) {
        if (!ending.signal.aborted) throw error
      } finally {
        await world.close()
      }
    })
  } finally {
    stopListening()
  }
}

async function runOnce(world: World, options: Options, signal: AbortSignal): Promise<void> {
  const patterns = options.pattern ?? []
  const files = await world.select({ patterns, signal })
  if (!files.length) throw new NoStories(patterns, directoryOf(options))
  if (!(await reportStories(world, files, options, signal))) process.exitCode = exitCodes.failed
}

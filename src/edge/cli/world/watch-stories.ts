// `vitamin world run --watch`: runs the stories again whose files changed.
import { watch } from "node:fs/promises"
import { relative, sep } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { World } from "#ability/world/create-world.ts"
import { directoryOf } from "#edge/cli/process/in-instance.ts"
import { rootOf } from "#kernel/trust/trust.ts"
import { type ReportOptions, reportStories } from "./report-stories.ts"

type Options = ReportOptions & { pattern?: string[] | undefined }

/** Editors write a file in several steps, in milliseconds. */
const settled = 100

/** Until the signal aborts. */
export async function watchStories(world: World, options: Options, signal: AbortSignal): Promise<void> {
  const root = rootOf(directoryOf(options))
  const select = () => world.select({ patterns: options.pattern ?? [], signal })
  const changed = new Set<string>()
  let wake = Promise.withResolvers<void>()
  const watching = follow()
  await reportStories(world, await select(), options, signal)
  while (!signal.aborted) {
    await Promise.race([wake.promise, watching])
    await sleep(settled, undefined, { signal })
    wake = Promise.withResolvers()
    const paths = [...changed]
    changed.clear()
    const files = await affected(paths)
    if (files.length) await reportStories(world, files, options, signal)
  }

  async function follow(): Promise<void> {
    for await (const { filename } of watch(root, { recursive: true, signal })) {
      if (!filename || filename.split(sep).some((name) => name === "node_modules" || name.startsWith(".")))
        continue
      changed.add(relative("", filename))
      wake.resolve()
    }
  }

  async function affected(paths: readonly string[]): Promise<string[]> {
    const stories = await select()
    const modules = await Promise.all(stories.map((file) => world.modules(file)))
    return stories.filter((_, at) => paths.some((path) => modules[at]!.files.includes(path)))
  }
}

// `vitamin hook list`: which hooks are in force, for which events, and from where; and what is not used.
import { relative } from "node:path"
import { loadHooks } from "#ability/hook/load-hooks.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import { Instance } from "#kernel/instance.ts"

export async function listHooks(options: FolderOptions & { format: "text" | "json" }): Promise<void> {
  await inInstance(options, async () => {
    const { hooks, unused } = await loadHooks({ isQuiet: true })
    const shown = hooks.map(({ event, matcher, name, source, timeout, condition, isAsync, work }) => ({
      event,
      ...(matcher ? { matcher } : {}),
      ...(condition ? { if: condition } : {}),
      type: work.type,
      name,
      source,
      timeout: timeout / 1_000,
      ...(isAsync ? { async: true } : {}),
    }))
    if (options.format === "json") return print(JSON.stringify({ hooks: shown, unused }, null, 2))
    if (!hooks.length && !unused.length) return print("No hooks. docs/hooks.md says how to add one.")
    for (const { event, matcher = "*", name, source } of shown)
      print(wrapList(safeText(`${event.padEnd(18)} ${matcher.padEnd(12)} ${name}  (${placeOf(source)})`), 19))
    for (const line of unused) print(wrapList(safeText(`not used           ${line}`), 19))
  })
}

function placeOf(source: string): string {
  const path = relative(Instance.worktree, source)
  return path.startsWith("..") ? source : path
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

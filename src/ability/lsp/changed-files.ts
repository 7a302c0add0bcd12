// Files that calls changed, for language servers that run. Servers do not watch the disk: they are told. Nothing is kept if no
// server runs.
import { Instance } from "#kernel/instance.ts"
import { isInside } from "#util/file/resolve-inside.ts"

type Listener = { root: string; paths: Set<string> }

const listeners = Instance.state(() => new Set<Listener>())
const maxPaths = 10_000

/** Absolute paths. */
export function note(paths: readonly string[]): void {
  for (const { root, paths: kept } of listeners())
    for (const path of paths) if (kept.size < maxPaths && isInside(root, path)) kept.add(path)
}

export function listen(root: string): { take(): string[]; end(): void } {
  const listener: Listener = { root, paths: new Set() }
  const all = listeners()
  all.add(listener)
  return {
    take() {
      const paths = [...listener.paths]
      listener.paths.clear()
      return paths
    },
    end: () => void all.delete(listener),
  }
}

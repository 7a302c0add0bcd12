// The names of the files below a folder, sorted, holding only a few times as many as are given out.
import * as Ripgrep from "./ripgrep.ts"
import type { Listing } from "./source.ts"

/** With `maxSeen` files the rest is not worth waiting for. */
export async function listFiles(options: {
  cwd: string
  limit: number
  maxSeen?: number
  accepts(file: string): boolean
  signal?: AbortSignal | undefined
}): Promise<Listing> {
  const { cwd, limit, accepts, maxSeen = 500_000, signal } = options
  let names: string[] = []
  let [total, seen] = [0, 0]
  const trim = () => {
    names = names.sort().slice(0, limit)
  }
  const { code } = await Ripgrep.run({
    args: ["--files", "--null", "--no-messages", "--no-require-git"],
    cwd,
    separator: "\0",
    ...(signal ? { signal } : {}),
    onPiece: (file) => {
      if (accepts(file)) {
        total++
        names.push(file)
        if (names.length >= 8 * limit + 1_000) trim()
      }
      return ++seen < maxSeen
    },
  })
  trim()
  return { names, total, more: code === undefined }
}

// Finds the story files of a folder: `*.stories.ts`, `.mts`, `.js` or `.mjs`, without ignored ones, sorted by path.
import { compileGlob } from "#ability/file/glob-pattern.ts"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"
import { isStory } from "./server/resolve-import.ts"

const anyStory = "*.stories.{ts,mts,js,mjs}"
const listing = ["--files", "--null", "--no-messages", "--no-require-git"]

/** Paths from `folder` that fit a glob pattern. */
export async function findStories(
  folder: string,
  { pattern = anyStory, signal }: { pattern?: string | undefined; signal: AbortSignal },
): Promise<string[]> {
  const { filter, matches } = compileGlob(pattern.replace(/^\.\//, ""))
  const found: string[] = []
  await Ripgrep.run({
    args: [...listing, ...filter],
    cwd: folder,
    separator: "\0",
    signal,
    onPiece: (file) => {
      if (isStory.test(file) && matches(file)) found.push(file)
    },
  })
  return found.sort()
}

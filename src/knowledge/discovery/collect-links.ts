// The links of a file with rules as references: where each leads, as far as that is inside of the root.
import { dirname, isAbsolute, join, resolve } from "node:path"
import { extractMarkdownLinks, filePathOf, getExtension } from "#util/markdown-links.ts"
import { isInside } from "#util/resolve-inside.ts"
import type { RuleReference } from "./rules-tables.ts"

/** More than that nobody wrote by hand. */
const maxLinks = 20_000
const maxText = 500
const documents = new Set([".md", ".markdown", ".mdx"])

export function collectLinks(
  file: { path: string; text: string },
  { root, onProblem }: { root: string; onProblem: (path: string, reason: string) => void },
): RuleReference[] {
  const links = extractMarkdownLinks(file.text)
  if (links.length > maxLinks) onProblem(file.path, `it has ${links.length} links, ${maxLinks} are used`)
  return links.slice(0, maxLinks).flatMap(({ displayText, relativePath, lineNumber }) => {
    const absolutePath = targetOf(file.path, relativePath, root)
    if (absolutePath === file.path) return []
    if (!isInside(root, absolutePath)) {
      onProblem(file.path, `its link to ${JSON.stringify(relativePath)} in line ${lineNumber} leaves ${root}`)
      return []
    }
    return [
      {
        displayText: displayText.slice(0, maxText),
        relativePath,
        absolutePath,
        source: file.path,
        lineNumber,
      },
    ]
  })
}

/** Whether what it names is to be read and searched, not only its name. */
export function isDocument(path: string): boolean {
  return documents.has(getExtension(path).toLowerCase())
}

/** As on the pages of a repository, "/docs" is below its root. */
function targetOf(source: string, link: string, root: string): string {
  const path = filePathOf(link).replaceAll("\0", "")
  if (!isAbsolute(path)) return resolve(dirname(source), path)
  return isInside(root, path) ? resolve(path) : join(root, path)
}

// Collects the links of a rule file or document whose targets are inside the root.
import { dirname, isAbsolute, join, resolve } from "node:path"
import { isInside } from "#util/file/resolve-inside.ts"
import {
  extractMarkdownLinks,
  filePathOf,
  getExtension,
  type MarkdownLink,
} from "#util/parse/markdown-links.ts"
import type { RuleReference } from "./rules-tables.ts"

/** Links that are used of one file. Nobody writes more by hand; of documents there may be many. */
const maxLinks = { rules: 20_000, document: 5_000 }
const maxText = 500
const documents = new Set([".md", ".markdown", ".mdx"])

export function collectLinks(
  file: { path: string; text: string },
  options: { root: string; of: "rules" | "document"; onProblem: (path: string, reason: string) => void },
): RuleReference[] {
  const { root, onProblem } = options
  const links = withoutRepeats(extractMarkdownLinks(file.text))
  const most = maxLinks[options.of]
  if (links.length > most) onProblem(file.path, `it has ${links.length} links, ${most} are used`)
  return links.slice(0, most).flatMap(({ displayText, relativePath, lineNumber }) => {
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

/** Whether the target is read and searched, not only its name. */
export function isDocument(path: string): boolean {
  return documents.has(getExtension(path).toLowerCase())
}

function withoutRepeats(links: MarkdownLink[]): MarkdownLink[] {
  const byKey = new Map<string, MarkdownLink>()
  for (const link of links) {
    const key = `${link.displayText}\0${link.relativePath}`
    if (!byKey.has(key)) byKey.set(key, link)
  }
  return [...byKey.values()]
}

/** An absolute link such as "/docs" starts at the root, as on the pages of a repository. */
function targetOf(source: string, link: string, root: string): string {
  const path = filePathOf(link).replaceAll("\0", "")
  if (!isAbsolute(path)) return resolve(dirname(source), path)
  return isInside(root, path) ? resolve(path) : join(root, path)
}

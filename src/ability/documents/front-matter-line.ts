// One line of the front matter of a Markdown file that a person may have written: set without touching any other byte.
import { isDeepStrictEqual } from "node:util"
import { parseFrontmatter } from "#util/parse/frontmatter.ts"
import { YamlError } from "#util/parse/yaml.ts"

type Line = {
  /** Names the file in errors. */
  source: string
  key: string
  value: string
  /** Further keys, for a file that has no front matter yet. */
  ifNone: Record<string, string>
}

/** The opening line, the lines of the front matter, and the rest from the closing line on. */
const whole = /^(---[^\S\r\n]*(?:\r\n?|\n))(.*?)(?<=[\r\n])(---[^\S\r\n]*(?:[\r\n].*)?)$/s

export function lineOf(key: string, value: string): string {
  return `${key}: ${/^[\w-]+$/.test(value) ? value : JSON.stringify(value)}`
}

/** Replaces the line of the key, or adds it. Throws `YamlError` if the front matter cannot be read, or if it has a form in
 * which one more line would change something else. */
export function withLine(bytes: Buffer, { source, key, value, ifNone }: Line): Buffer {
  const before = parseFrontmatter(bytes, source)
  // One character for each byte, so that all of them come back as they were.
  const text = bytes.toString("latin1")
  const mark = text.startsWith("\xef\xbb\xbf") ? 3 : 0
  const line = Buffer.from(lineOf(key, value)).toString("latin1")
  if (!before) {
    const more = Object.entries(ifNone).map(([name, own]) => `${lineOf(name, own)}\n`)
    const head = `---\n${more.join("")}${line}\n---\n\n`
    return Buffer.from(text.slice(0, mark) + head + text.slice(mark), "latin1")
  }
  const [, open = "", head = "", rest = ""] = whole.exec(text.slice(mark)) ?? []
  const end = /\r\n?|\n/.exec(open)?.[0] ?? "\n"
  const present = new RegExp(`^${key}[ \\t]*:[^\\r\\n]*`, "m")
  const changed = present.test(head) ? head.replace(present, () => line) : `${head}${line}${end}`
  const made = Buffer.from(text.slice(0, mark) + open + changed + rest, "latin1")
  const after = parseFrontmatter(made, source)
  const wanted = { ...(before.value as object | null), [key]: value }
  if (!isDeepStrictEqual(after?.value, wanted) || after?.body !== before.body)
    throw new YamlError(source, { line: 1, column: 1 }, `the front matter has no line for ${key}`)
  return made
}

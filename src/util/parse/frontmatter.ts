// Markdown with front matter: YAML between two lines of "---". Other kinds ("---js") are refused, so that nothing in it is
// ever run.
import { decodeText, parseYaml, type Yaml, YamlError } from "./yaml.ts"

/** `body` is what follows, without blank lines around it. */
export type Frontmatter = Yaml & { body: string }

/** Undefined if the text does not begin with front matter. Throws `YamlError`. */
export function parseFrontmatter(bytes: Uint8Array, source: string): Frontmatter | undefined {
  const text = decodeText(bytes, source)
  if (!text.startsWith("---")) return undefined
  const lines = text.split("\n")
  const kind = lines[0]!.slice(3).trim()
  if (kind !== "")
    throw new YamlError(
      source,
      { line: 1, column: 4 },
      `front matter of the kind ${JSON.stringify(kind.slice(0, 40))} is not read; a plain "---" begins YAML`,
    )
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === "---")
  if (end < 0)
    throw new YamlError(source, { line: 1, column: 1 }, 'the front matter is not closed by a line "---"')
  const yaml = parseYaml(lines.slice(1, end).join("\n"), source, 2)
  return {
    ...yaml,
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  }
}

// The first paragraph of a description, on one line, for lists. `--format json` has the whole description.

export function firstParagraph(description: string): string {
  return description
    .trim()
    .split(/\n\s*\n/, 1)[0]!
    .replace(/\s+/g, " ")
}

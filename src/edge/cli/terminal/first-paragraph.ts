// What a list says about a thing: the first paragraph of its description, on one line. `--format json` has the whole.

export function firstParagraph(description: string): string {
  return description
    .trim()
    .split(/\n\s*\n/, 1)[0]!
    .replace(/\s+/g, " ")
}

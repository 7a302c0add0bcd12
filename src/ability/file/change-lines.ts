// A change as removed and added lines, for the person who decides about it.

export function changeLines(gone: string, come: string): string {
  return [...marked("- ", gone), ...marked("+ ", come)].join("\n")
}

function marked(mark: string, text: string): string[] {
  if (text === "") return []
  return text
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .map((line) => mark + line)
}

// A change as the lines that go and the lines that come, for a person who is to decide about it.

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

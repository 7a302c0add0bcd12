// Splits a Markdown text into paragraphs, without fenced code and comments. `masked` is the text of a paragraph with
// inline code and comments blanked; every other character keeps its place.

/** `line`: where it begins, counted from 1. */
export type Paragraph = { text: string; masked: string; line: number }

const fence = /^[ \t>]*(?:[-*+] +|\d{1,9}[.)] +)?(`{3,}|~{3,})(.*)$/

export function paragraphsOf(content: string): Paragraph[] {
  const paragraphs: Paragraph[] = []
  // Recognises the last line of the open code block or comment.
  let isEnd: ((line: string) => boolean) | undefined
  let lines: string[] = []
  let first = 1
  const end = (next: number) => {
    const text = lines.join("\n")
    if (text) paragraphs.push({ text, masked: withoutComments(withoutCode(text)), line: first })
    lines = []
    first = next
  }
  for (const [i, line] of content.split(/\r\n?|\n/).entries()) {
    const opened = isEnd
    isEnd ??= endOf(line)
    if (isEnd || line.trim() === "") end(i + 2)
    else lines.push(line)
    // A comment can end where it began; a fence cannot.
    if (isEnd?.(line) && (opened || line.includes("-->"))) isEnd = undefined
  }
  end(0)
  return paragraphs
}

/** If the line begins a code block or a comment: a function that recognises the last line of it. */
function endOf(line: string): ((line: string) => boolean) | undefined {
  if (line.trimStart().startsWith("<!--")) return (next) => next.includes("-->")
  const [, marks = "", info = ""] = fence.exec(line) ?? []
  if (!marks || (marks[0] === "`" && info.includes("`"))) return undefined
  return (next) => {
    const [, same = "", rest = ""] = fence.exec(next) ?? []
    return same[0] === marks[0] && same.length >= marks.length && rest.trim() === ""
  }
}

/** Blanks inline code, which ends at the next run of as many backticks. Without one, the backticks are plain text. */
function withoutCode(text: string): string {
  const runs = [...text.matchAll(/`+/g)]
  const ends = new Map<number, number[]>()
  for (const { 0: run, index } of runs) {
    const same = ends.get(run.length) ?? []
    same.push(index)
    ends.set(run.length, same)
  }
  for (const same of ends.values()) same.reverse()
  let result = ""
  let from = 0
  for (const { 0: run, index } of runs) {
    if (index < from) continue
    const isEscaped = text[index - 1] === "\\" && text[index - 2] !== "\\"
    const same = ends.get(run.length)!
    while (same.length && same.at(-1)! <= index) same.pop()
    const close = isEscaped ? undefined : same.at(-1)
    if (close === undefined) continue
    const stop = close + run.length
    result += text.slice(from, index) + blanked(text.slice(index, stop))
    from = stop
  }
  return result + text.slice(from)
}

function withoutComments(text: string): string {
  let result = ""
  let from = 0
  for (let at = text.indexOf("<!--"); at >= 0; at = text.indexOf("<!--", from)) {
    const close = text.indexOf("-->", at + 4)
    if (close < 0) break
    result += text.slice(from, at) + blanked(text.slice(at, close + 3))
    from = close + 3
  }
  return result + text.slice(from)
}

/** Keeps the length and the line breaks. */
function blanked(text: string): string {
  return text.replace(/[^\r\n]/g, "\0")
}

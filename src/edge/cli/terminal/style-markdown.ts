// Markdown for a terminal, styled while it streams: text is passed on as soon as its meaning is clear, so that an answer
// appears as it comes. Headings, lists, quotes, code, bold and italic are styled; tables and links stay as written.
// Control characters must be escaped before.

type Style = readonly [on: string, off: string]

const bold: Style = ["\u001b[1m", "\u001b[22m"]
const dim: Style = ["\u001b[2m", "\u001b[22m"]
const italic: Style = ["\u001b[3m", "\u001b[23m"]
const cyan: Style = ["\u001b[36m", "\u001b[39m"]

/** The start of a line that may still become a heading, a list item, a quote or a fence. */
const unclear = /^ {0,3}(?:#{1,6}|`{1,2}|~{1,2}|[-+*]|>|\d{1,3}[.)]?)?$/
const block = /^( {0,3})(?:(#{1,6}) |([-+*]) |(>) ?|(`{3,}|~{3,}))/
const wordCharacter = /[\p{L}\p{N}]/u

export type MarkdownStyler = Readonly<{
  /** What can be shown of the text so far. */
  add(text: string): string
  /** What was held back, and every style ended. */
  end(): string
}>

export function createMarkdownStyler(): MarkdownStyler {
  let lineStart: string | undefined = ""
  let fence: string | undefined
  let run = ""
  let before = ""
  let codeMark: string | undefined
  let open: { mark: string; style: Style }[] = []
  let lineStyle: Style | undefined

  function add(text: string): string {
    let out = ""
    for (const character of text) out += take(character)
    return out
  }

  function take(character: string): string {
    if (character === "\n") return endLine()
    if (lineStart === undefined) return inline(character)
    lineStart += character
    if (fence !== undefined ? isPartOfFence(lineStart) : unclear.test(lineStart)) return ""
    return startLine()
  }

  /** The kind of the line is clear now. */
  function startLine(): string {
    const text = lineStart ?? ""
    lineStart = undefined
    if (fence !== undefined) return cyan[0] + text
    const [whole = "", indent = "", heading, item, quote, mark] = block.exec(text) ?? []
    const rest = text.slice(whole.length)
    if (mark) {
      fence = mark
      return dim[0] + text
    }
    let out = indent
    if (heading) {
      lineStyle = bold
      out += bold[0]
    } else if (item) out += "• "
    else if (quote) out += `${dim[0]}│${dim[1]} `
    for (const character of rest) out += inline(character)
    return out
  }

  function inline(character: string): string {
    if (fence !== undefined) return character
    if (character === "`" || (codeMark === undefined && (character === "*" || character === "_"))) {
      if (run === "" || run[0] === character) {
        run += character
        return ""
      }
      const out = endRun(character)
      run = character
      return out
    }
    const out = endRun(character) + character
    before = character
    return out
  }

  /** A run of marks has ended; `after` decides whether it opens, closes or is text. */
  function endRun(after: string): string {
    const mark = run
    run = ""
    if (mark === "") return ""
    if (mark[0] === "`") return endCodeMark(mark)
    const out = emphasis(mark, after)
    before = mark
    return out
  }

  function endCodeMark(mark: string): string {
    if (codeMark === undefined) {
      codeMark = mark
      return cyan[0]
    }
    if (codeMark !== mark) return mark
    codeMark = undefined
    before = "`"
    return cyan[1]
  }

  function emphasis(mark: string, after: string): string {
    const last = open.at(-1)
    const isInWord = mark[0] === "_" && wordCharacter.test(before) && wordCharacter.test(after)
    if (last?.mark === mark && before.trim() !== "" && !isInWord) {
      open.pop()
      return last.style[1] + restyle()
    }
    const style = mark.length === 1 ? italic : mark.length === 2 ? bold : undefined
    const opens = after.trim() !== "" && !wordCharacter.test(before) && !isInWord
    if (!style || !opens) return mark
    open.push({ mark, style })
    return style[0]
  }

  /** The end of bold also ends a bold line. */
  function restyle(): string {
    return lineStyle?.[0] ?? ""
  }

  function endLine(): string {
    const out = lineStart === undefined ? "" : endOfUnclear()
    return `${out}${endRun("\n")}${endStyles()}\n`
  }

  function endOfUnclear(): string {
    const text = lineStart ?? ""
    const isClosing = fence !== undefined && new RegExp(`^ {0,3}${fence[0]}{${fence.length},} *$`).test(text)
    if (!isClosing) return startLine()
    fence = undefined
    lineStart = undefined
    return `${dim[0]}${text}${dim[1]}`
  }

  function isPartOfFence(text: string): boolean {
    const mark = fence![0]!
    return new RegExp(`^ {0,3}${mark}* *$`).test(text)
  }

  function endStyles(): string {
    const inFence = fence !== undefined ? `${cyan[1]}${dim[1]}` : ""
    const inCode = codeMark === undefined ? "" : cyan[1]
    const inText = open.map(({ style }) => style[1]).join("")
    const inLine = lineStyle?.[1] ?? ""
    lineStart = ""
    codeMark = undefined
    open = []
    lineStyle = undefined
    before = ""
    return inFence + inCode + inText + inLine
  }

  function end(): string {
    const out = lineStart ? endOfUnclear() : ""
    const all = out + endRun("\n") + endStyles()
    fence = undefined
    return all
  }

  return Object.freeze({ add, end })
}

// Markdown for a terminal, styled while it streams: text is passed on as soon as its meaning is clear, so that an
// answer appears as it arrives. Headings, lists, quotes, code, bold and italic are styled; tables and links stay as
// written. The input must have its control characters escaped.

type Style = readonly [on: string, off: string]

const bold: Style = ["\u001b[1m", "\u001b[22m"]
const dim: Style = ["\u001b[2m", "\u001b[22m"]
const italic: Style = ["\u001b[3m", "\u001b[23m"]
const cyan: Style = ["\u001b[36m", "\u001b[39m"]

/** The start of a line that may still become a heading, a list item, a quote or a fence. */
const unclear = /^ {0,3}(?:#{1,6}|`{1,2}|~{1,2}|[-+*]|>|\d{1,3}[.)]?)?$/
const block = /^( {0,3})(?:(#{1,6}) |([-+*]) |(>) ?|(`{3,}|~{3,}))/
const isWordCharacter = (text: string) => /[\p{L}\p{N}]/u.test(text)
/** `__` stays text: names such as `__init__` are more common than bold text that is written so. */
const styles = new Map([
  ["*", italic],
  ["_", italic],
  ["**", bold],
])
/** At most this many characters are held back until a mark is closed. */
const maxHeld = 500

/** A mark that may open a style, and its index in `held`. */
type Mark = { mark: string; at: number; style: Style }

export type MarkdownStyler = Readonly<{
  /** Adds text, and returns what can be shown now. */
  add(text: string): string
  /** Returns the text that was held back, and ends every style. */
  end(): string
}>

export function createMarkdownStyler(): MarkdownStyler {
  let lineStart: string | undefined = ""
  let fence: string | undefined
  let run = ""
  let isEscaped = false
  let before = ""
  let code: Mark | undefined
  let open: Mark[] = []
  const held: string[] = []
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

  /** Called when the kind of the line is clear. */
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
    if (isEscaped) return escaped(character)
    if (character === "\\" && code === undefined) {
      isEscaped = true
      return endRun(character)
    }
    if (character !== "`" && (code !== undefined || (character !== "*" && character !== "_")))
      return endRun(character) + show(character)
    const out = run === "" || run[0] === character ? "" : endRun(character)
    run += character
    return out
  }

  /** `\*` is a literal star. */
  function escaped(character: string): string {
    isEscaped = false
    if (/[*_`\\]/.test(character)) return show(character)
    return show("\\") + inline(character)
  }

  /** A run of marks has ended; `after` decides whether it opens, closes or is text. */
  function endRun(after: string): string {
    const mark = run
    run = ""
    if (mark === "") return ""
    if (mark[0] === "`") return endCodeMark(mark)
    return code === undefined ? emphasis(mark, after) : show(mark)
  }

  function endCodeMark(mark: string): string {
    if (code === undefined) {
      code = { mark, at: held.length, style: cyan }
      return show(mark)
    }
    if (code.mark !== mark) return show(mark)
    const start = code
    code = undefined
    return close(start, cyan[1], mark)
  }

  function emphasis(mark: string, after: string): string {
    const style = styles.get(mark)
    if (!style) return show(mark)
    const start = closes(before, after) ? open.findLast((one) => one.mark === mark) : undefined
    if (start) {
      open = open.slice(0, open.indexOf(start))
      return close(start, style[1] + (lineStyle?.[0] ?? ""), mark)
    }
    if (opens(mark, before, after)) open.push({ mark, at: held.length, style })
    return show(mark)
  }

  /** Text is held back while a mark before it may still be closed. */
  function show(text: string): string {
    held.push(text)
    before = text.at(-1)!
    if (held.length > maxHeld) forget()
    return release()
  }

  function close({ at, style }: Mark, off: string, mark: string): string {
    held[at] = style[0]
    held.push(off)
    before = mark[0]!
    return release()
  }

  function release(): string {
    return open.length || code ? "" : held.splice(0).join("")
  }

  /** Open marks that are never closed are text. */
  function forget(): void {
    code = undefined
    open = []
  }

  function endLine(): string {
    const out = lineStart === undefined ? "" : endOfUnclear()
    return `${out}${endInline()}${endStyles()}\n`
  }

  function endInline(): string {
    const out = (isEscaped ? show("\\") : "") + endRun("\n")
    isEscaped = false
    forget()
    return out + release()
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
    const inLine = lineStyle?.[1] ?? ""
    lineStart = ""
    lineStyle = undefined
    before = ""
    return inFence + inLine
  }

  function end(): string {
    const out = lineStart ? endOfUnclear() : ""
    const all = out + endInline() + endStyles()
    fence = undefined
    return all
  }

  return Object.freeze({ add, end })
}

/** Stricter than CommonMark, which finds emphasis in `a:*, b:*`. Here a mark opens nothing if it is inside a word, between
 * punctuation, or before a dot, as in `*.ts`. */
function opens(mark: string, before: string, after: string): boolean {
  if (after.trim() === "" || isWordCharacter(before) || (mark === "*" && after === ".")) return false
  return before.trim() === "" || isWordCharacter(after) || /[*_`\\]/.test(after)
}

/** A mark inside a word closes nothing either. */
function closes(before: string, after: string): boolean {
  return before.trim() !== "" && !isWordCharacter(after)
}

// Splits a request into tokens: words, quoted text, URLs and punctuation, each with its position. One pass, so that the time
// is linear even for hostile text.
export type Token = {
  kind: "word" | "quote" | "url" | "mark"
  /** Its text; of a quote without the quotation marks. */
  text: string
  lower: string
  start: number
  end: number
  /** The mark that opened a quote; three of them for a block. */
  sign?: string
}

const closing: Record<string, string> = { '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»" }
const trailing = ",;:!?."
const brackets: Record<string, string> = { ")": "(", "]": "[", "}": "{" }

export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  const closers = createClosers(text)
  let at = 0
  while (at < text.length) {
    const char = text[at]!
    if (char === "\n") tokens.push(mark("\n", at++))
    else if (/\s/.test(char)) at++
    else {
      const quote = quoteAt(text, at, closers)
      const found = quote ? [quote] : wordAt(text, at)
      tokens.push(...found)
      at = found.at(-1)!.end
    }
  }
  return tokens
}

function mark(text: string, start: number): Token {
  return { kind: "mark", text, lower: text, start, end: start + text.length }
}

function quoteAt(
  text: string,
  start: number,
  closers: (sign: string, from: number) => number,
): Token | undefined {
  if (text.startsWith("```", start)) return blockAt(text, start)
  const sign = text[start]!
  if (!Object.hasOwn(closing, sign)) return undefined
  const end = closers(sign, start + 1)
  if (end < 0) return undefined
  const inside = text.slice(start + 1, end)
  const said = sign === '"' ? inside.replaceAll('\\"', '"') : inside
  return { kind: "quote", text: said, lower: said.toLowerCase(), start, end: end + 1, sign }
}

/** A fenced block. Its first line may name a language. */
function blockAt(text: string, start: number): Token | undefined {
  const end = text.indexOf("```", start + 3)
  if (end < 0) return undefined
  const said = text.slice(start + 3, end).replace(/^[\w+-]*[ \t]*\n/, "")
  return { kind: "quote", text: said, lower: "", start, end: end + 3, sign: "```" }
}

function wordAt(text: string, start: number): Token[] {
  const char = text[start]!
  const isAlone = start === 0 || /\s/.test(text[start - 1]!)
  const isBracket = char === ")" || (char === "(" && /\S/.test(text[start + 1] ?? " "))
  const isDotted = isAlone && /^(?:\.+[\w/\\]|\.{1,2}(?:\s|$))/.test(text.slice(start, start + 4))
  if (isBracket || (trailing.includes(char) && !isDotted)) return [mark(char, start)]
  let end = start
  while (end < text.length && !/\s/.test(text[end]!)) end++
  const whole = text.slice(start, end)
  const url = /^<?(https?:\/\/[^\s<>"'`]+)/i.exec(whole)
  if (url) {
    const from = start + whole.indexOf(url[1]!)
    const said = url[1]!.slice(0, bodyLength(url[1]!))
    return [{ kind: "url", text: said, lower: said.toLowerCase(), start: from, end: from + said.length }]
  }
  const link = /^(.{0,200}?\]?\()https?:\/\//i.exec(whole)
  if (link && link[1] !== "(") {
    // Of `[text](address)` only the address is kept.
    const word = wordOf(whole.slice(0, link[1]!.length).replace(/\]?\($/, "") || "link", start)
    return [word, ...wordAt(text, start + link[1]!.length)]
  }
  // "l. 3" and "no. 7": the dot ends no sentence.
  if (/^(?:ll?|ln|no|lines?)\.$/i.test(whole) && /^\s{1,3}\d/.test(text.slice(end, end + 4)))
    return [wordOf(whole, start)]
  return [wordOf(whole.slice(0, bodyLength(whole) || 1), start)]
}

function wordOf(text: string, start: number): Token {
  const lower = text.toLowerCase().replaceAll("’", "'")
  return { kind: "word", text, lower, start, end: start + text.length }
}

/** The length of a word without the punctuation of the sentence. Brackets that were opened inside belong to the word. */
function bodyLength(word: string): number {
  let length = word.length
  while (length > 1) {
    const last = word[length - 1]!
    const opener = brackets[last]
    if (opener ? !word.includes(opener) : trailing.includes(last) || last === "'") length--
    else break
  }
  return word === ".." || /\/\.{2,3}$/.test(word.slice(-10)) ? word.length : length
}

/** Finds where a quote ends. An apostrophe inside a word ends no quote. The positions of each mark are searched once. */
function createClosers(text: string) {
  const places = new Map<string, { list: number[]; next: number }>()
  return (sign: string, from: number): number => {
    const end = closing[sign]!
    let known = places.get(sign)
    if (!known) {
      known = { list: allOf(text, end), next: 0 }
      places.set(sign, known)
    }
    while (known.next < known.list.length && known.list[known.next]! < from) known.next++
    return known.list[known.next] ?? -1
  }
}

function allOf(text: string, sign: string): number[] {
  const list: number[] = []
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
    const isInWord = /\w/.test(text[at + 1] ?? " ") && sign !== "`" && sign !== "”"
    const isEscaped = text[at - 1] === "\\" && sign === '"'
    if (!isInWord && !isEscaped) list.push(at)
  }
  return list
}

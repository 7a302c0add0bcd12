// How many tokens a text has at most, about, without the tokenizer of any model. It errs high: what is too high costs a
// little room, what is too low costs the request. Plain words are counted near to what they are; digits, capitals and
// signs, of which JSON, Base64 and hashes are made, count one each, and so do the letters of most scripts.

const kinds = { lower: 0, upper: 1, digit: 2, blank: 3, sign: 4 }
const kindOf = new Uint8Array(128).fill(kinds.sign)
for (let code = 0; code < 128; code++) {
  const letter = String.fromCharCode(code)
  if (/[a-z]/.test(letter)) kindOf[code] = kinds.lower
  if (/[A-Z]/.test(letter)) kindOf[code] = kinds.upper
  if (/[0-9]/.test(letter)) kindOf[code] = kinds.digit
  if (/[ \t]/.test(letter)) kindOf[code] = kinds.blank
}

export function estimateTokens(text: string): number {
  let tokens = 0
  let before = -1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    tokens += code < 128 ? ofAscii(code, before) : ofOther(code)
    before = code
  }
  return Math.ceil(tokens)
}

function ofAscii(code: number, before: number): number {
  const kind = kindOf[code]
  if (kind === kinds.lower) return isLower(before) ? 0.3 : 0.5
  // Blanks are part of the word behind them; only rows of them count.
  if (kind === kinds.blank) return code === before ? 0.25 : 0
  if (kind === kinds.sign) return code === before ? 0.3 : 1
  return 1
}

/** Half of a pair, a letter with an accent or of an alphabet, or one that stands for a syllable or a word. */
function ofOther(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) return 1.5
  return code < 0x800 ? 1 : 2
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122
}

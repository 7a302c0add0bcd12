// Judges JSON before it is parsed: 48 MB of brackets would take gigabytes of memory and half a minute, in which the parent
// does nothing else. Deep values would overflow the stack of what reads them later.
const mostValues = 1_000_000
const deepest = 500
const [quote, comma, backslash] = [0x22, 0x2c, 0x5c] as const
const [openList, openObject, closeList, closeObject] = [0x5b, 0x7b, 0x5d, 0x7d] as const

export function isTooComplex(text: string): boolean {
  let values = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (code === comma) values++
    else if (code === closeList || code === closeObject) depth--
    else if (code === openList || code === openObject) {
      values++
      if (++depth > deepest) return true
    }
    if (values > mostValues) return true
  }
  return false
}

/** The place of its last quote. One after an odd number of backslashes belongs to the string. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text.charCodeAt(before - 1) === backslash) before--
    if ((end - before) % 2 === 0) return end
  }
  return text.length
}

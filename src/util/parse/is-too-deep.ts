// Whether JSON is nested too deep for recursive code. The text is scanned, because the value of hostile JSON can be neither
// walked nor serialised.

const maxDepth = 100

export function isTooDeep(json: string): boolean {
  let depth = 0
  for (let i = 0, quoted = false; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === 92 && quoted) i++
    else if (code === 34) quoted = !quoted
    else if (quoted) continue
    else if (code === 91 || code === 123) {
      if (++depth > maxDepth) return true
    } else if (code === 93 || code === 125) depth--
  }
  return false
}

// Whether JSON is nested deeper than code that walks it can bear. Its text is looked at, since the value of a hostile one
// can be neither walked nor written.

const usual = 100

export function isTooDeep(json: string, levels = usual): boolean {
  let depth = 0
  for (let i = 0, quoted = false; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === 92 && quoted) i++
    else if (code === 34) quoted = !quoted
    else if (quoted) continue
    else if (code === 91 || code === 123) {
      if (++depth > levels) return true
    } else if (code === 93 || code === 125) depth--
  }
  return false
}

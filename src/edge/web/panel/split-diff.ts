// A unified diff of git in parts, by file.

const head = "diff --git "

/** Lines of a hunk begin with a sign, so a line that begins as a head is one. */
export function splitDiff(text: string): Map<string, string> {
  const parts = new Map<string, string>()
  let at = text.startsWith(head) ? 0 : nextHead(text, 0)
  while (at < text.length) {
    const end = nextHead(text, at)
    const part = text.slice(at, end)
    const path = pathOf(part)
    if (path !== undefined) parts.set(path, part)
    at = end
  }
  return parts
}

function nextHead(text: string, from: number): number {
  const at = text.indexOf(`\n${head}`, from)
  return at < 0 ? text.length : at + 1
}

function pathOf(part: string): string | undefined {
  const hunk = part.indexOf("\n@@ ")
  const top = hunk < 0 ? part : part.slice(0, hunk)
  const named = /^\+\+\+ ("?)b\/(.*)$/m.exec(top) ?? /^--- ("?)a\/(.*)$/m.exec(top)
  if (named) return named[1] ? unquote(named[2]!.replace(/"\t?$/, "")) : named[2]!.replace(/\t$/, "")
  // Without a hunk there is only the first line, which has the path twice.
  const line = top.slice(head.length, top.indexOf("\n") < 0 ? undefined : top.indexOf("\n"))
  const half = line.slice(0, (line.length - 1) / 2)
  return half.startsWith('"a/')
    ? unquote(half.slice(3, -1))
    : half.startsWith("a/")
      ? half.slice(2)
      : undefined
}

const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }

/** git writes bytes of unusual names as octal numbers. */
function unquote(text: string): string {
  const bytes: number[] = []
  for (const [piece, octal, letter] of text.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gs)) {
    if (octal) bytes.push(Number.parseInt(octal, 8))
    else if (letter) bytes.push(escapes[letter] ?? letter.charCodeAt(0))
    else bytes.push(...new TextEncoder().encode(piece))
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}

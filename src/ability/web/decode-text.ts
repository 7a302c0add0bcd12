// Decodes the bytes of a page. The byte order mark, else the header, else the page itself names the encoding.

const start = 2_048

export function decodeText(bytes: Buffer, contentType: string): string {
  const label = marked(bytes) ?? /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1] ?? declared(bytes)
  // Decoded as an unfinished stream, so that half a character at the end is dropped.
  return decoder(label).decode(bytes, { stream: true })
}

function marked(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined
}

/** `<meta charset=…>`, `<meta … content="text/html; charset=…">` or `<?xml … encoding=…?>`. */
function declared(bytes: Buffer): string {
  const text = bytes.toString("latin1", 0, start)
  const found =
    /<meta\s[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)|^<\?xml\s[^>]{0,200}?encoding=["']([\w.:-]+)/i
  const [, meta, xml] = found.exec(text) ?? []
  const label = meta ?? xml ?? "utf-8"
  // The declaration was readable as single bytes, so the page is not UTF-16.
  return /^utf-?16/i.test(label) ? "utf-8" : label
}

function decoder(label: string) {
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}

// The tags and texts of HTML in order, in one pass over any input: for pages that are too large or too deep for a
// document. Scripts and styles are left out.

export type Token = { kind: "text"; text: string } | { kind: "open" | "close"; name: string }

const tag = /<(\/?)([a-z][\w:-]*)/iy
const raw = new Set("script style noscript template svg math iframe object canvas textarea select".split(" "))
const empty = new Set("area base br col embed hr img input link meta param source track wbr".split(" "))
/** These elements end the open one of their kind, so they may stay unclosed. */
const closedByNext = new Set("p li dt dd option tr td th thead tbody tfoot".split(" "))

export function* scanHtml(html: string): Generator<Token> {
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at)
    if (open !== at) yield { kind: "text", text: html.slice(at, open < 0 ? undefined : open) }
    if (open < 0) return
    tag.lastIndex = open
    const [start, slash, written] = tag.exec(html) ?? []
    const name = written?.toLowerCase()
    if (!start || !name) {
      const isMarkup = html[open + 1] === "!" || html[open + 1] === "?" || html[open + 1] === "/"
      if (!isMarkup) yield { kind: "text", text: "<" }
      at = isMarkup ? endOfMarkup(html, open) : open + 1
      continue
    }
    at = endOfTag(html, open + start.length)
    if (!slash && raw.has(name)) at = endOfRaw(html, at, name)
    else yield { kind: slash ? "close" : "open", name }
  }
}

/** The greatest depth of the elements, or a little more. */
export function depthOf(html: string): number {
  let [depth, deepest] = [0, 0]
  for (const token of scanHtml(html)) {
    if (token.kind === "text" || empty.has(token.name) || closedByNext.has(token.name)) continue
    depth = token.kind === "open" ? depth + 1 : Math.max(0, depth - 1)
    if (depth > deepest) deepest = depth
  }
  return deepest
}

function endOfMarkup(html: string, open: number): number {
  const end = html.startsWith("<!--", open) ? html.indexOf("-->", open + 4) + 2 : html.indexOf(">", open)
  return end > open ? end + 1 : html.length
}

/** After the ">" that is not in quotes. */
function endOfTag(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    const char = html[at]
    if (char === ">") return at + 1
    if ((char === '"' || char === "'") && html[at - 1] === "=") {
      at = html.indexOf(char, at + 1)
      if (at < 0) return html.length
    }
  }
  return html.length
}

function endOfRaw(html: string, from: number, name: string): number {
  const close = new RegExp(`</${name}[\\s/>]`, "gi")
  close.lastIndex = from
  const found = close.exec(html)
  return found ? endOfTag(html, found.index + name.length + 2) : html.length
}

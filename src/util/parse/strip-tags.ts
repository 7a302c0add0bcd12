// The plain text of HTML, for pages that cannot be converted to Markdown: a line per block, no links, no menus.

/** Elements that begin no line of their own. */
export const inline: ReadonlySet<string> = new Set(
  "a abbr b bdi bdo cite code data del dfn em font i img ins kbd label mark q s samp small span strong sub sup time tt u var wbr".split(
    " ",
  ),
)
const skipped = new Set(["nav", "title"])
const entities: Record<string, string> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", copy: "©", reg: "®", trade: "™" },
  ...{ mdash: "—", ndash: "–", hellip: "…", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", bull: "•" },
  ...{ laquo: "«", raquo: "»", middot: "·", times: "×", euro: "€", deg: "°", rarr: "→", larr: "←" },
}

/** `at`: where it begins in the HTML. */
export type Token = { at: number } & (
  | { kind: "text"; text: string }
  | { kind: "open" | "close"; name: string }
)

const tag = /<(\/?)([a-z][\w:-]*)/iy
const raw = new Set("script style noscript template svg math iframe object canvas textarea select".split(" "))
const empty = new Set("area base br col embed hr img input link meta param source track wbr".split(" "))
/** These elements end the open one of their kind, so they may stay unclosed. */
const closedByNext = new Set("p li dt dd option tr td th thead tbody tfoot".split(" "))

export function stripTags(html: string): { title?: string; text: string } {
  const parts: string[] = []
  const titles: string[] = []
  let skipping: string | undefined
  let depth = 0
  for (const token of scanHtml(html)) {
    if (token.kind === "text") {
      if (!skipping) parts.push(token.text.replace(/\s+/g, " "))
      else if (skipping === "title" && titles.length < 1) titles.push(token.text)
    } else if (skipping === token.name) {
      depth += token.kind === "open" ? 1 : -1
      if (depth === 0) skipping = undefined
    } else if (!skipping && token.kind === "open" && skipped.has(token.name)) {
      skipping = token.name
      depth = 1
    } else if (!skipping && !inline.has(token.name)) {
      parts.push(token.name !== "li" ? "\n" : token.kind === "open" ? "\n- " : "")
    }
  }
  const title = decodeEntities(titles.join("")).replace(/\s+/g, " ").trim()
  const lines = decodeEntities(parts.join("")).split("\n")
  const text = lines.map((line) => line.replace(/ {2,}/g, " ").trim()).join("\n")
  return { text: text.replace(/\n{3,}/g, "\n\n").trim(), ...(title ? { title } : {}) }
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

export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (all, decimal, hex, name) => {
    if (name) return entities[name] ?? all
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}

/** The tags and texts of HTML in order, in one pass over any input. Scripts and styles are left out. */
export function* scanHtml(html: string): Generator<Token> {
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at)
    if (open !== at) yield { at, kind: "text", text: html.slice(at, open < 0 ? undefined : open) }
    if (open < 0) return
    tag.lastIndex = open
    const [start, slash, written] = tag.exec(html) ?? []
    const name = written?.toLowerCase()
    if (!start || !name) {
      const isMarkup = html[open + 1] === "!" || html[open + 1] === "?" || html[open + 1] === "/"
      if (!isMarkup) yield { at: open, kind: "text", text: "<" }
      at = isMarkup ? endOfMarkup(html, open) : open + 1
      continue
    }
    at = endOfTag(html, open + start.length)
    if (!slash && raw.has(name)) at = endOfRaw(html, at, name)
    else yield { at: open, kind: slash ? "close" : "open", name }
  }
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

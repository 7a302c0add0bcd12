// The plain text of HTML, for pages that cannot be converted to Markdown: a line per block, no links, no menus.
import { scanHtml } from "./scan-html.ts"

const inline = new Set(
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

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (all, decimal, hex, name) => {
    if (name) return entities[name] ?? all
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}

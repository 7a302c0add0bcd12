// Finding files by name, ending or pattern with `glob`.
import type { Clause } from "../clause.ts"
import { pickIn } from "../picks.ts"
import { isCode, isGlob } from "../recognize.ts"
import { at, type Proposal, says } from "../skill.ts"

const asksFor =
  /^(?:find|locate|list|ls|search|look|show|get|give|what|what's|which|where|where's|is|are|do|does|how|count|any|all|display|print|see|glob|fd|identify|check|tell|every|files?|anything|enumerate|a|an|the|gimme|path|location)$/
const wantsPlace = /^(?:find|locate|where|where's|fd|search|look)$/
const inName =
  /\b(?:in|as part of) (?:the|its|their|a)? ?(?:file ?)?names?\b|\bname (?:contains|containing|includes|has|with)\b|\bnames? (?:that )?(?:contain|include)\b/

export function find(clause: Clause): Proposal | undefined {
  if (clause.tokens.length === 1 && clause.globs.length)
    return { score: 4, calls: [{ tool: "glob", args: { pattern: anywhere(clause.globs[0]!) } }] }
  if (!asksFor.test(clause.verb) || clause.urls.length) return undefined
  if (/^(?:smallest|largest)$/.test(String(pickIn(clause)))) return undefined
  const count = clause.isCounting ? { count: "files" as const } : {}
  // "files called utils": the name is no place.
  const isName = says(
    clause,
    new RegExp(
      `\\b(?:named|called) (?:the )?${/^\w+$/.test(clause.place ?? "") ? clause.place : "\\0"}\\b`,
      "i",
    ),
  )
  const path = isName ? {} : at(clause.place)
  const made = (pattern: string, score: number): Proposal => ({
    score,
    calls: [
      {
        tool: "glob",
        args: pattern.includes("/") && !pattern.startsWith("**/") ? { pattern } : { pattern, ...path },
      },
    ],
    ...count,
  })
  if (
    says(clause, /\b(?:recursive|recursively)\b/) &&
    !clause.files.length &&
    !clause.quotes.length &&
    !globFor(clause)
  )
    return made("**/*", 8)
  if (
    says(
      clause,
      /\b(?:newer|older)\b.*\bthan\b|\b(?:modified|changed|edited|created) (?:since|today|yesterday|this|last|in the last|recently)\b|\brecent(?:ly)?\b/,
    )
  )
    return { score: 4.6, calls: [], refusal: "I find files by their names, not by their dates." }
  const named = nameIn(clause)
  if (named) return made(named, 5)
  if (
    clause.quotes.some(({ text }) => !isGlob(text) && text !== clause.place && !clause.files.includes(text))
  )
    return undefined
  const glob = globFor(clause)
  if (glob)
    return made(
      anywhere(glob),
      says(
        clause,
        /\b(?:contain\w*|mention\w*|import\w*|use|uses|using|for(?! (?:all |any |every |the )*\S+ files))\b/,
      )
        ? 3.2
        : 4.5,
    )
  const isSought =
    wantsPlace.test(clause.verb) ||
    says(
      clause,
      /^(?:is|are) there\b|\b(?:path|location) (?:of|to|for)\b|^do(?:es)? (?:we|i|you|the|this|it)\b.*\b(?:have|contain|exist|see|know|find|got)\b|\b(?:somewhere|anywhere|around here)\b|^(?:show|list|give|get) (?:me )?(?:all|every|each)\b|\bexists?\b/,
    )
  const file = clause.files.at(-1)
  if (file && isSought && !says(clause, /\b(?:used|imported|mentioned|defined|referenced|contain\w*)\b/)) {
    const isPlaced = /^(?:in|inside|within)$/.test(
      clause.words[clause.tokens.findIndex(({ text }) => text.startsWith(file)) - 1] ?? "",
    )
    const patterns = clause.files.map((name) =>
      name.includes("/")
        ? name.replace(/^\.\//, "")
        : `**/${name}${/^(?:README|LICENSE|LICENCE|CHANGELOG)$/.test(name) ? "*" : ""}`,
    )
    const calls = patterns.map((pattern) => ({
      tool: "glob",
      args: pattern.startsWith("**/") ? { pattern, ...path } : { pattern },
    }))
    return { score: isPlaced ? 2.5 : says(clause, /\bexists?\b/) ? 5 : 4, calls, ...count }
  }
  if (says(clause, /\b(?:unit )?(?:tests?|specs?) files\b|\ball (?:the )?tests\b/))
    return made(says(clause, /\bspecs? files/) ? "**/*.spec.*" : "**/*.{test,spec}.*", 3.6)
  const kind = /\b(config|configuration|env|environment|lock|log|hidden|dot) ?files?\b/.exec(clause.shape)
  const patterns: Record<string, string> = {
    env: "**/.env*",
    environment: "**/.env*",
    lock: "**/*lock*",
    log: "**/*.log",
    hidden: "**/.*",
    dot: "**/.*",
  }
  if (kind) return made(patterns[kind[1]!] ?? "**/*config*", 3.4)
  return undefined
}

/** The pattern that a clause names, or that its kinds of files make. */
export function globFor({ globs, endings }: Pick<Clause, "globs" | "endings">): string | undefined {
  if (globs.length > 1)
    return globs.every((glob) => /^\*\.\w+$/.test(glob))
      ? `*.{${globs.map((glob) => glob.slice(2)).join(",")}}`
      : globs[0]
  if (globs.length) return globs[0]
  if (endings.length === 1 && endings[0] === "env") return ".env*"
  if (endings.length > 1) return `*.{${endings.join(",")}}`
  return endings.length ? `*.${endings[0]}` : undefined
}

function anywhere(glob: string): string {
  return glob.includes("/") ? glob.replace(/^\.\//, "") : `**/${glob}`
}

/** "files named x", "with x in their name", "starting with x", "ending in -test". */
function nameIn(clause: Clause): string | undefined {
  const { tokens, words } = clause
  if (!says(clause, /\bfiles?\b|\bnames?\b|\bcalled\b|\bnamed\b/)) return undefined
  for (let i = 1; i < words.length; i++) {
    const before = words[i - 1]!
    const token = tokens[i]!
    if (
      token.kind === "mark" ||
      /^(?:like|something|that|with|the|a|an|is|are|word|exactly)$/.test(words[i]!)
    )
      continue
    const text = token.text.replace(/^\.\//, "")
    if (isCode(text) && !text.includes(".") && !says(clause, /\bfiles?\b/)) continue
    if (!/^[\w.*?{},@ /-]+$/.test(text)) continue
    const phrase = words.slice(Math.max(0, i - 3), i).join(" ")
    if (
      /\b(?:named|called|name is|names? (?:is|like)|name of|named like|called like|filename)$/.test(phrase) ||
      (/^(?:like|exactly)$/.test(before) && /^(?:named|called|names?)$/.test(words[i - 2]!))
    )
      return isGlob(text)
        ? anywhere(text)
        : text.includes("/")
          ? text
          : `**/${/\.\w+$|^[A-Z]\w+file$/.test(text) ? text : `${text}*`}`
    if (
      /^(?:find|locate|search|open)(?: the| a)? file$/.test(phrase) &&
      i === words.length - 1 &&
      /^[\w-]+$/.test(text)
    )
      return `**/*${text}*`
    if (/\b(?:start(?:s|ing)?|begin(?:s|ning)?) (?:with|in)(?: the| a)?$/.test(phrase) || before === "prefix")
      return `**/${text}*`
    if (/\bend(?:s|ing)? (?:with|in|on)(?: the| a)?$/.test(phrase) || before === "suffix")
      return `**/*${text.replace(/^\*/, "")}`
  }
  if (!says(clause, inName)) return undefined
  const quote =
    clause.quotes[0]?.text ??
    tokens.find(
      (_, i) =>
        i > 0 &&
        /^(?:with|contains|containing|includes|contain|include|has|have|having)$/.test(words[i - 1]!) &&
        !/^(?:the|a|an|word|its|their|name|names)$/.test(words[i]!),
    )?.text
  return quote && /^[\w. -]+$/.test(quote) ? `**/*${quote}*` : undefined
}

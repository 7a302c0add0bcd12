// Searching in files with `grep`.
import type { Clause } from "../clause.ts"
import { pickIn } from "../picks.ts"
import { foldersIn } from "../places.ts"
import { isCode, isGlob } from "../recognize.ts"
import { at as atPlace, type Call, type Proposal, says } from "../skill.ts"
import { globFor } from "./find.ts"
import { holds, patternsIn, strong } from "./search-pattern.ts"

const things =
  "occurrences?|usages?|uses?|references?|mentions?|instances?|calls?|callers?|matches|imports?|definitions?|places?|lines?|comments?|spots?|appearances?|declarations?|implementations?|text|string|word|phrase|todos|fixmes"
const participles =
  "used|defined|called|declared|imported|implemented|mentioned|set|handled|thrown|exported|referenced|created|initialized|instantiated|invoked|located|raised|configured|registered|logged|live|happen"
const frames: [RegExp, number][] = [
  [/^where(?:'s| is| are| do| does| did|)\b/, 2],
  [new RegExp(`^where\\b.*\\b(?:${participles}|use|call|define|import|throw|set|handle|come|appear)\\b`), 2],
  [
    new RegExp(
      `\\b(?:files?|places?|modules?|lines?|code|anything|anybody|tests?|one|scripts?)\\b (?:that |which |(?:in|of|from|inside|under) (?:the )?\\S+ (?:folder |directory )?(?:that |which )?)?(?:${holds}|do(?:es)? (?:mention|contain|use))\\b`,
    ),
    3.5,
  ],
  [new RegExp(`^(?:who|what) (?:${holds})\\b`), 3.5],
  [new RegExp(`\\b(?:${things})\\b.* (?:of|to|for|with|containing)\\b`), 2],
  [/\b(?:places?|everywhere|anywhere|spots?|everything)\b.*\b(?:where|that|which)\b/, 3],
  [/^(?:search|grep|scan|look|hunt)\b.* for\b/, 1.5],
  [/^(?:list|show|find|get|give|print|display|count)\b.*\b(?:todos|fixmes?|hacks?|xxx)\b/, 2.5],
  [/^any (?:uses?|usages?|mentions?|references?|occurrences?|sign)\b/, 2],
  [/^any (?:more |other )?\S+ (?:left|remaining|around|anywhere|still|in|inside|under)\b/, 2.5],
  [/\bhow (?:many times|often)\b/, 4],
  [/^(?:the |a )?(?:string|text|words?|phrase|term) Q/, 3],
  [/^(?:\w+ )?(?:function|class|method|variable|constant|component)\b.*\b(?:called|named)\b/, 4],
  [
    new RegExp(`^(?:which|what) \\w+ (?:${holds}|(?:do|does) \\w+ (?:use|call|import|mention|define))\\b`),
    4.5,
  ],
  [new RegExp(`^(?:which|what) (?:files?|modules?|folders?) (?:is|are|was) .*\\b(?:${participles})\\b`), 4],
  [
    /^do(?:es)? (?:the |this |our |my |any(?:thing|one|body)? )?\S+ (?:file )?(?:mention|contain|use|import|include|reference|call|have|say|export)\b/,
    5,
  ],
  [new RegExp(`^(?:is|are) .*\\b(?:${participles})\\b`), 3.5],
  [
    new RegExp(
      `^(?:check|see|verify|find out|look) (?:if|whether|that) .*\\b(?:${holds}|appears?|occurs?|exists?|shows? up)\\b`,
    ),
    3.5,
  ],
  [/^(?:find|locate) \S+ (?:in|inside|within|under) \S+$/, 1.6],
  [/\b(?:appears?|occurs?|shows? up)\b/, 1.5],
  [/\b(?:TODO|FIXME|todos|fixmes)\b/i, 1],
  [/\blook(?:ing)? (?:for|up|through|inside)\b|\bsearch(?:ing)? (?:for|through|in)\b/, 3],
  [/^(?:is|are) there (?:any|a|an)\b|^do(?:es)? (?:any|we|the|it)\b/, 1.5],
  [/\b(?:list|show|give|get|find)\b.*\b(?:lines?|places?|occurrences|usages|references|mentions)\b/, 1],
]

export function search(clause: Clause): Proposal | undefined {
  if (clause.urls.length && (!clause.quotes.length || says(clause, /^\w+ (?:in |through |on )?U\b/)))
    return undefined
  const shell = fromShell(clause)
  if (shell) return { score: 5, calls: [shell] }
  if (
    says(
      clause,
      /\bin (?:the |its |their |a )?(?:file ?)?names?\b|\bfiles? with (?:the |an? )?(?:extension|ending|suffix)\b|\bfiles? (?:that |which )?(?:are )?(?:named|called|starting|ending|starts?|ends?|begin\w*)\b/,
    )
  )
    return undefined
  if (
    clause.endings.length &&
    !clause.quotes.length &&
    says(clause, /\b(?:for|find|locate) (?:all |any |every |the |some |me )*\S+ (?:source )?files\b(?! for)/)
  )
    return undefined
  const picks = pickIn(clause)
  if (
    /^(?:open|read|show|view|cat|display|print)$/.test(clause.verb) &&
    (picks === "last" || typeof picks === "number")
  )
    return undefined
  if (
    says(clause, /\bfiles? (?:matching|named|called|like)\b/) &&
    clause.quotes.every(({ text }) => isGlob(text)) &&
    clause.globs.length
  )
    return undefined
  let score = strong.test(clause.verb) ? 3 : /^(?:find|locate|spot|detect)$/.test(clause.verb) ? 1.5 : 0
  for (const [frame, weight] of frames) if (says(clause, frame)) score += weight
  const isComment =
    clause.place !== undefined ||
    clause.files.length ||
    says(
      clause,
      /\bcomments?\b|\b(?:in|through|across|throughout) (?:the |this |our |my )?(?:\w+ )?(?:code|codebase|source|sources|repo|repository|project|files)\b/,
    ) ||
    clause.tokens.some(({ text }) => /^(?:TODO|FIXME|HACK|XXX)s?$/.test(text))
  if (!isComment && says(clause, /\b(?:todos?|tasks?)\b/)) return undefined
  if (!score) return undefined
  if (
    clause.isCounting &&
    says(
      clause,
      /^how many (?:\w+ )?(?:todos?|fixmes?|are|times|uses|usages|calls|occurrences|matches|references|mentions|lines|imports)\b/,
    )
  )
    score += 2
  const found = patternsIn(clause)
  if (!found.length) return undefined
  if (found.some(({ isQuoted, text }) => isQuoted || isCode(text))) score += 1.5
  const at = Math.max(...found.map(({ at }) => at))
  const calls = found.flatMap(({ text, isRegex }) => callsFor(clause, { text, isRegex, at }))
  const count = clause.isCounting || says(clause, /\bhow (?:many|often)\b/)
  return { score, calls, ...(count ? { count: "matches" as const } : {}) }
}

function callsFor(
  clause: Clause,
  { text, isRegex, at }: { text: string; isRegex: boolean; at: number },
): Call[] {
  const files = clause.files.filter((path) => path !== text && isBehind(clause, path, at))
  const glob = globFor({ ...clause, globs: clause.globs.filter((glob) => glob !== text) })
  const folders = foldersIn(clause).filter((folder) => folder !== text)
  const joined = folders.filter(
    (folder, i) => i === folders.length - 1 || isJoined(clause, folder, folders[i + 1]!),
  )
  const args: Call["args"] = { pattern: text }
  if (!isRegex && /[.*+?^${}()|[\]\\]/.test(text)) args.fixed = true
  if (says(clause, /\bcase[- ]?insensitiv\w*|\bignor\w+ (?:the )?case\b|\bregardless of case\b/))
    args.ignoreCase = true
  if (files.length) return files.slice(0, 10).map((path) => ({ tool: "grep", args: { ...args, path } }))
  const place = clause.place === text ? undefined : clause.place
  return (joined.length ? joined : [place]).map((path) => ({
    tool: "grep",
    args: { ...args, ...atPlace(path), ...(glob ? { glob } : {}) },
  }))
}

/** "src and test", "src, lib" */
function isJoined({ tokens }: Clause, one: string, two: string): boolean {
  const at = tokens.findIndex(({ text }) => text.replace(/(.)\/+$/, "$1") === one)
  const rest = tokens.slice(at + 1, at + 4).filter(({ lower }) => !/^(?:and|or|&|,|the|in)$/.test(lower))
  return rest[0]?.text.replace(/(.)\/+$/, "$1") === two
}

/** A file is where to look only if it does not stand in what is looked for. */
function isBehind({ tokens }: Clause, path: string, at: number): boolean {
  const place = tokens.findIndex(({ text }) => text.startsWith(path))
  return place !== at
}

/** A flag that changes nothing here; with any other one, the command is run as it is. */
export function isPlainFlag(word: string): boolean {
  return /^-[rRnHiEsIh]+$|^--(?:recursive|line-number|ignore-case|with-filename|color\S*)$/.test(word)
}

/** `grep -rn foo src`, `rg 'x y' lib`. */
function fromShell(clause: Clause): Call | undefined {
  if (
    !/^(?:grep|rg|ag|ack)$/.test(clause.verb) ||
    clause.words.some((word) => /^-/.test(word) && !isPlainFlag(word)) ||
    says(clause, /^\w+ (?:for|the|in|through|all|every|any)\b/)
  )
    return undefined
  const rest = clause.tokens
    .slice(1)
    .filter(({ text, kind }) => kind !== "mark" && !/^--?[A-Za-z][\w-]*$/.test(text))
  if (
    !rest.length ||
    rest.some(({ lower, kind }) => kind === "word" && /^(?:in|under|across|inside|for)$/.test(lower))
  )
    return undefined
  const [pattern, path] = rest
  const flags = clause.words.filter((word) => /^-\w*i/.test(word))
  return {
    tool: "grep",
    args: {
      pattern: pattern!.text,
      ...(path && path.text !== "." ? { path: path.text.replace(/(.)\/+$/, "$1") } : {}),
      ...(flags.length ? { ignoreCase: true } : {}),
    },
  }
}

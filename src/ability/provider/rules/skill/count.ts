// Counts files, lines and matches, and compares the sizes of files.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { quoted } from "./change.ts"
import { globsFor, search } from "./find.ts"
import { at, type Call, type Pick, type Proposal, run, says } from "./proposal.ts"

const order: Record<string, number> = { first: 0, second: 1, third: 2, fourth: 3, fifth: 4 }
const nouns = "(?: (?:one|file|match|result|hit|of|entry|matching)\\b|$)"

/** "it", "the smallest", "the first one", "each of them". */
export function pickIn({ shape }: Clause): Pick | undefined {
  const plain = shape.replace(/\b(?:first|last) (?:[\w-]+ )?lines?\b/g, "")
  if (/\b(?:smallest|shortest|tiniest|least)\b/.test(shape)) return "smallest"
  if (/\b(?:largest|biggest|longest|heaviest|greatest|bigger|larger)\b/.test(shape)) return "largest"
  if (new RegExp(`\\blast${nouns}`).test(plain)) return "last"
  const nth = new RegExp(`\\b(first|second|third|fourth|fifth)(?: (?!lines?\\b)\\w+)?${nouns}`).exec(plain)
  if (nth) return order[nth[1]!]!
  if (/\b(?:each|every one|them|those|these|they|both)\b/.test(shape)) return "each"
  if (/\b(?:it|its|it's|that|this|(?:the|that|this) (?:file|result|match))\b/.test(shape)) return "it"
  return undefined
}

/** Finds the smallest or the largest file by the sizes that `ls` lists. */
export function measure(clause: Clause): Proposal | undefined {
  const pick = pickIn(clause)
  if ((pick !== "smallest" && pick !== "largest") || clause.files.length || clause.quotes.length)
    return undefined
  const isShown = says(
    clause,
    /^(?:read|open|show|print|cat|view|display|see)\b.*\b(?:lines?|contents?|it)\b/,
  )
  if (isShown || !says(clause, /\b(?:files?|one|modules?|scripts?|G)\b/)) return undefined
  return { calls: candidates(clause), after: { pick, tool: "ls", make: () => [] } }
}

function candidates(clause: Clause): Call[] {
  const [glob] = globsFor(clause)
  return [{ tool: "glob", args: glob ?? { pattern: "**/*", ...at(clause.folders[0]) } }]
}

const counting =
  /\b(?:how many|number of (?=lines|files|G|todos?|matches|tests|folders)|count|line count|loc)\b|\bhow long\b.*F|\blength of\b.*F/
const matches =
  /\b(?:todos?|fixmes?|times|uses|usages|calls|occurrences|matches|references|mentions|often|imports)\b|Q/
const definesTest = "^\\s*(?:test|it|def test_\\w*|func Test\\w*)\\b"

export function count(clause: Clause): Proposal | undefined {
  const { files, folders, globs } = clause
  if (says(clause, /\b(?:how (?:big|large|heavy)|size of|file size|filesize)\b/)) return sizes(clause)
  if (!says(clause, counting)) return undefined
  if (says(clause, /\bwords\b.*F|F.*\bwords\b/)) return run(`wc -w ${files.map(quoted).join(" ")}`)
  const isText = says(clause, matches) || says(clause, /\b(?:contain\w*|mention\w*|matching|with)\b/)
  if (says(clause, /\b(?:lines?|loc|rows?|long|length)\b/) && !isText) {
    if (files.length)
      return { calls: files.map((path) => ({ tool: "read", args: { path } })), count: "lines" }
    const where = [...folders.map(quoted), ...globs.map((glob) => `'${glob}'`)]
      .map((one) => ` ${one}`)
      .join("")
    return run(`git ls-files -z${where} | xargs -0 cat | wc -l`)
  }
  if (says(clause, matches)) {
    const found = search(clause)
    return found ? { ...found, count: "matches" } : undefined
  }
  const [place] = folders
  if (says(clause, /\btests?\b(?! files?)/) && !place)
    return {
      calls: [{ tool: "grep", args: { pattern: definesTest, glob: "*{test,spec}*" } }],
      count: "matches",
    }
  if (says(clause, /\bfolders\b/)) return { calls: [{ tool: "ls", args: at(place) }], count: "files" }
  if (!says(clause, /\b(?:files?|G|entries|modules|scripts|images|pictures)\b/)) return undefined
  const wanted = globsFor(clause)
  const all = wanted.length ? wanted : [{ pattern: "**/*", ...at(place) }]
  return { calls: all.map((args) => ({ tool: "glob", args })), count: "files" }
}

function sizes({ files, folders, shape }: Clause): Proposal | undefined {
  if (files.length) return run(`wc -c ${files.map(quoted).join(" ")}`)
  const isWhole = /\b(?:project|repo|repository|folder|directory|codebase)\b/.test(shape)
  return folders.length || isWhole ? run(`du -sh ${folders.map(quoted).join(" ") || "."}`) : undefined
}

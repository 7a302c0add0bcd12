// Everything that only looks: what a clause names decides, a page, a file, a folder, a kind of files, or text to search.
import { quoted } from "./change.ts"
import type { Clause } from "./clause.ts"
import { searched } from "./searched.ts"
import { at, type Call, type Pick, type Proposal, run, says } from "./skill.ts"

export function look(clause: Clause): Proposal | undefined {
  return (
    page(clause) ??
    measure(clause) ??
    picked(clause) ??
    count(clause) ??
    search(clause) ??
    find(clause) ??
    read(clause) ??
    list(clause) ??
    about(clause)
  )
}

const domain =
  /^(?:(?:www\.)?[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|de|uk|eu|app|ai|co|gov|edu|info)|localhost|127\.0\.0\.1)(?::\d{1,5})?(?:\/\S*)?$/i

function page({ urls, tokens, verb }: Clause): Proposal | undefined {
  const asked = /^(?:fetch|download|get|load|open|visit|browse|retrieve|grab|curl|wget|go|scrape|request)$/
  const bare = asked.test(verb) ? tokens.filter(({ text }) => domain.test(text)) : []
  const all = urls.length
    ? urls
    : bare.map(({ text }) => `http${/^(?:l|127)/.test(text) ? "" : "s"}://${text}`)
  if (!all.length) return undefined
  return { calls: all.slice(0, 5).map((url) => ({ tool: "fetch", args: { url } })) }
}

const order: Record<string, number> = { first: 0, second: 1, third: 2, fourth: 3, fifth: 4 }
const nouns = "(?: (?:one|file|match|result|hit|of|entry|matching)\\b|$)"

/** "it", "the smallest", "the first one", "each of them". */
function pickIn({ shape }: Clause): Pick | undefined {
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

/** Which file is the smallest or the largest: `ls` knows sizes. */
function measure(clause: Clause): Proposal | undefined {
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

/** A file that an earlier result named, or the one that was spoken of. */
function picked(clause: Clause): Proposal | undefined {
  const pick = pickIn(clause)
  const isNamed = clause.files.length || clause.quotes.length || clause.urls.length || clause.globs.length
  const shows =
    /^(?:read|open|show|print|cat|view|display|see|look|head|tail|dump|output|give|peek|inspect|check|get|first|last|the|lines?|summari[sz]e|explain|describe|review)\b/
  if (pick === undefined || isNamed || !says(clause, shows)) return undefined
  if (says(clause, /\b(?:project|repo|repository|code|codebase|folder|directory|app|D|function|class)\b/))
    return undefined
  const make = (path: string): Call[] => [readCall(path, clause)]
  const { last } = clause.lines
  const isSized = pick === "smallest" || pick === "largest"
  return {
    calls: [],
    after: { pick, tool: "read", make, otherwise: "no file to go on with" },
    ...(isSized ? {} : {}),
    ...(last ? { last } : {}),
    ...thought(clause),
  }
}

function count(clause: Clause): Proposal | undefined {
  const { files, folders } = clause
  const isSize = says(clause, /\b(?:how (?:big|large|heavy)|size of|file size|filesize)\b/)
  if (isSize && files.length === 1) return run(`wc -c ${quoted(files[0]!)}`)
  if (isSize && folders.length) return run(`du -sh ${folders.map(quoted).join(" ")}`)
  if (isSize && says(clause, /\b(?:project|repo|repository|folder|directory|codebase)\b/))
    return run("du -sh .")
  const isLength = files.length > 0 && says(clause, /\bhow long\b|\blength of\b/)
  if (!isLength && !says(clause, /\b(?:how many|number of|count|count of|line count|loc)\b/)) return undefined
  if (says(clause, /\bwords\b/) && files.length && !clause.quotes.length)
    return run(`wc -w ${quoted(files[0]!)}`)
  const isLines = isLength || says(clause, /\b(?:lines?|loc|rows?)\b/)
  const hasText =
    clause.quotes.length ||
    says(clause, /\b(?:containing|contain|mention\w*|matching|with|TODOs?|todos?|times|often)\b/)
  if (isLines && files.length && !hasText)
    return { calls: files.map((path) => ({ tool: "read", args: { path } })), count: "lines" }
  if (isLines && !files.length && !hasText)
    return run(
      `git ls-files -z ${folders.map(quoted).join(" ")}${clause.globs.map((glob) => ` '${glob}'`).join("")} | xargs -0 cat | wc -l`.replace(
        / +/g,
        " ",
      ),
    )
  if (
    says(
      clause,
      /\b(?:todos?|fixmes?|times|uses|usages|calls|occurrences|matches|references|mentions|often|imports)\b/,
    ) ||
    clause.quotes.length
  ) {
    const found = search(clause)
    return found ? { ...found, count: "matches" } : undefined
  }
  if (says(clause, /\btests?\b(?! files?)/) && !folders.length)
    return {
      calls: [
        {
          tool: "grep",
          args: { pattern: "^\\s*(?:test|it|def test_\\w*|func Test\\w*)\\b", glob: "*{test,spec}*" },
        },
      ],
      count: "matches",
    }
  if (!says(clause, /\b(?:files?|G|folders?|entries|modules|scripts|images|pictures)\b/)) return undefined
  const globs = globsFor(clause)
  if (says(clause, /\bfolders\b/)) return { calls: [{ tool: "ls", args: at(folders[0]) }], count: "files" }
  return {
    calls: (globs.length ? globs : [{ pattern: "**/*", ...at(folders[0]) }]).map((args) => ({
      tool: "glob",
      args,
    })),
    count: "files",
  }
}

function search(clause: Clause): Proposal | undefined {
  const found = searched(clause)
  if (!found.length) return undefined
  const [glob] = clause.globs.filter((glob) => found.every(({ text }) => text !== glob))
  const files = clause.files.filter((file) => found.every(({ text }) => text !== file))
  const places = files.length ? files : clause.folders.length ? clause.folders : [undefined]
  const isAnyCase = says(clause, /\bcase[- ]?insensitiv\w*|\bignor\w+ (?:the )?case\b|\bregardless of case\b/)
  const calls = found.flatMap(({ text, isRegex }) =>
    places.slice(0, 10).map((path): Call => {
      const args: Call["args"] = { pattern: text, ...at(path) }
      if (!isRegex && /[.*+?^${}()|[\]\\]/.test(text)) args.fixed = true
      if (isAnyCase || (!isRegex && /^[a-z]+$/.test(text) && !clause.quotes.length)) args.ignoreCase = true
      if (glob && !files.length) args.glob = glob
      return { tool: "grep", args }
    }),
  )
  return { calls, ...(says(clause, /\bhow (?:many|often)\b/) ? { count: "matches" as const } : {}) }
}

/** Globs, and files that are asked for by their name. */
function globsFor(clause: Clause): Call["args"][] {
  const { globs, files, quotes } = clause
  const [folder] = clause.folders
  const endings = globs.flatMap((glob) => /^\*\.([\w.]+)$/.exec(glob)?.[1] ?? [])
  const merged = endings.length > 1 && endings.length === globs.length ? [`*.{${endings.join(",")}}`] : globs
  const all = merged.map((pattern) =>
    pattern.includes("/") ? { pattern } : { pattern: folder ? `**/${pattern}` : pattern, ...at(folder) },
  )
  if (all.length) return all
  const isName = says(
    clause,
    /\b(?:files?|anything|something) (?:that (?:is|are) |which (?:is|are) )?(?:called|named|matching|like)\b|\bwhere(?:'s| is| are)\b|^(?:find|locate|search|look for|is there|are there|do|does|which)\b/,
  )
  const names = isName ? [...new Set([...files, ...quotes.map(({ text }) => text)])] : []
  return names.map((pattern) => ({ pattern, ...at(folder) }))
}

function find(clause: Clause): Proposal | undefined {
  const globs = globsFor(clause)
  const isRead =
    says(
      clause,
      /^(?:read|open|cat|print|head|tail|view|pull|see|display)\b|^show(?: me)?(?: the)? (?:file|contents?)\b/,
    ) && !clause.globs.length
  const isAbout =
    says(clause, /\b(?:contain\w*|define\w*|function|class|say|says|lines?)\b/) && clause.files.length > 0
  if (globs.length && !isRead && !isAbout) return { calls: globs.map((args) => ({ tool: "glob", args })) }
  const named =
    /\b(?:find|where(?:'s| is| are)|locate|is there|are there|have|has|which is|which are|show|list|look for|get)\b(?: (?:an?|any|the|all|me|our|my|some|every|is|are|of))*((?: (?!files?\b|folders?\b|an?\b|the\b|any\b)[\w.-]+){1,2}) files?$/.exec(
      clause.shape,
    )
  const words = named?.[1]!.trim().split(" ")
  if (words && words.every((word) => /^[a-z][\w-]{2,}$/.test(word) && !plain.test(word)))
    return {
      calls: [
        {
          tool: "glob",
          args: { pattern: `**/*{${capitals(words.at(-1)!).join(",")}}*`, ...at(clause.folders[0]) },
        },
      ],
    }
  if (
    says(
      clause,
      /^(?:is|are|does|do|have|has|where|which|what|find|show|list)\b.*\b(?:have|has|are|there|find|any|where|the|all|our|list|show|which|what) (?:\w+ )?tests?(?: files?)?$/,
    )
  )
    return { calls: [{ tool: "glob", args: { pattern: "**/*{test,spec}*", ...at(clause.folders[0]) } }] }
  return undefined
}

/** Words before "files" that name none. */
const plain =
  /^(?:the|all|these|those|other|any|some|new|old|big|large|small|many|few|more|most|first|last|recent|changed|modified|project|source|hidden|empty|unused|different|matching|and|for|with|open|what|which|there|are|current|your|those|only)$/

function capitals(word: string): string[] {
  return [word, word[0]!.toUpperCase() + word.slice(1), word.toUpperCase()]
}

function readCall(path: string, { lines: { from, to } }: Clause): Call {
  return {
    tool: "read",
    args: { path, ...(from ? { startLine: from } : {}), ...(to ? { endLine: to } : {}) },
  }
}

function read(clause: Clause): Proposal | undefined {
  const { files, lines } = clause
  if (!files.length) return undefined
  return {
    calls: files.slice(0, 20).map((path) => readCall(path, clause)),
    ...(lines.last ? { last: lines.last } : {}),
    ...thought(clause),
  }
}

/** Who asks for a thought gets the text, and is told that it is no more than that. */
export function thought(clause: Clause): { refusal?: string } {
  const verb =
    /^(summari[sz]e|explain|describe|review|analy[sz]e|understand|critique|rate|improve|compare|why|how)\b/.exec(
      clause.shape,
    )?.[1]
  if (!verb) return {}
  const what = /^(?:why|how)$/.test(verb) ? "answer that" : `${verb} it`
  return { refusal: `I can show this, but I cannot ${what}: that takes a language model.` }
}

const listing =
  /^(?:list|ls|dir|tree|show|browse|what|what's|whats|which|display|see|view|print|contents?|give|look|explore|open|inspect|check|files?|folders?|D|the|overview|read|get|take|whats|describe|find|have|tell|is|are|do|structure|folder|directory|everything|enumerate|pwd)\b/
const here =
  /\b(?:here|this|current|working|top[- ]level|root|the (?:project|repo|repository|folder|directory|workspace|codebase|structure|layout|files)|files|folders|everything|folder structure|project structure|file tree|directory)\b|^(?:ls|dir|tree|list|pwd)$|^(?:ls|dir|tree) -\w+$/

function list(clause: Clause): Proposal | undefined {
  const { folders } = clause
  if (clause.files.length || clause.urls.length || !listing.test(clause.shape)) return undefined
  const quoted =
    clause.quotes.length === 1 && says(clause, /\b(?:inside|in|of|folder|directory|dir)(?: of| the)* Q\b/)
      ? [clause.quotes[0]!.text]
      : []
  const all = folders.length ? folders : quoted
  if (all.length) return { calls: all.slice(0, 10).map((path) => ({ tool: "ls", args: at(path) })) }
  if (clause.quotes.length || about(clause)) return undefined
  const isHere =
    here.test(clause.shape) &&
    says(
      clause,
      /\b(?:files?|folders?|director(?:y|ies)|in|inside|contents?|listing|structure|tree|layout|everything|list|ls|dir|overview|what's here|whats here|is here|pwd|there)\b/,
    )
  const isOther = says(
    clause,
    /\b(?:why|function|class|bug|error|code does|mean|wrong|version|weather|time)\b/,
  )
  return isHere && !isOther && clause.tokens.length <= 14 ? { calls: [{ tool: "ls", args: {} }] } : undefined
}

const thing =
  "(?:this|the|my|our|that)?(?: (?:project|repo|repository|code|codebase|app|application|program|package|library|tool|thing|software|folder|directory))?"
const purpose = new RegExp(
  [
    `^(?:what|what's|whats) (?:does|is|do|are)? ?${thing} (?:do|does|about|for|all about|good for|actually do|supposed to do|even do)(?: here)?$`,
    `^(?:what|what's|whats|what is|what are)(?: is)? (?:this|the|that) (?:project|repo|repository|codebase|app|application|program|package|library|code)(?: (?:about|for|do|doing))?$`,
    `^(?:explain|describe|summari[sz]e|introduce|overview of|give(?: me)? an? (?:\\w+ )?(?:overview|summary|introduction|intro|description) (?:of|to)|tell(?: me)? about|about|walk me through|understand|i'm new to)(?: me| us| to me)? ?(?:what )?${thing}(?: (?:does|is|do|is about|to me|for me|is for))*$`,
    `^how (?:do|can|should|does|would) (?:i|we|one|you) (?:start|run|use|install|build|launch|set up|setup|get started with|begin|deploy|execute|start with|test)(?: (?:it|this|that|the app|the project|the server|the program|this (?:project|app|program|repo|thing|server)|the application|everything|up))*$`,
    `^how to (?:start|run|use|install|build|launch|set up|setup|get started)(?: (?:it|this|that|the app|the project|the server|this project|with this))*$`,
    `^(?:overview|about|intro|introduction|getting started|project (?:overview|summary|description)|purpose)(?: of this project| please)?$`,
    `^what (?:am i looking at|is this|is going on here)$|^what's this$|^whats this$`,
  ].join("|"),
)

/** Questions about the project as a whole: its README says, or its package.json. */
function about(clause: Clause): Proposal | undefined {
  const manifest = says(
    clause,
    /\b(?:dependenc(?:y|ies)|deps|npm scripts|scripts (?:are|does|do|can|exist|available)|(?:which|what|the|list|show|available) (?:\w+ )?scripts|version of (?:the|this) (?:project|package|app|repo)|(?:project|package|app) version|(?:name|version|license) of (?:the|this|my) (?:project|package|app)|which version (?:is this|of this|am i)|(?:what|which) version(?: of \w+)* is (?:this|it)|packages? (?:do|does|are) \w+ (?:use|used|depend|installed|need))\b/,
  )
  if (manifest && clause.tokens.length <= 12)
    return {
      calls: [{ tool: "read", args: { path: "package.json" } }],
      instead: {
        tool: "glob",
        args: {
          pattern:
            "{pyproject.toml,requirements.txt,setup.py,Cargo.toml,go.mod,pom.xml,Gemfile,composer.json}",
        },
      },
    }
  if (!purpose.test(clause.shape)) return undefined
  return { calls: [{ tool: "read", args: { path: "README.md" } }], instead: { tool: "ls", args: {} } }
}

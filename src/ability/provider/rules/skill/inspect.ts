// Rules that only read: the clause names a page, a file, a folder, a kind of file, or text to search.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { count, measure, pickIn } from "./count.ts"
import { find, search } from "./find.ts"
import { at, type Call, one, type Proposal, says } from "./proposal.ts"

export function inspect(clause: Clause): Proposal | undefined {
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

function page({ urls }: Clause): Proposal | undefined {
  return urls.length
    ? { calls: urls.slice(0, 5).map((url) => ({ tool: "fetch", args: { url } })) }
    : undefined
}

/** A file from an earlier result, or the one that the conversation is about. */
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
  return {
    calls: [],
    after: { pick, tool: "read", make },
    ...(last ? { last } : {}),
    ...opinionNote(clause),
  }
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
    ...opinionNote(clause),
  }
}

/** A request for a summary or an opinion gets the text, with a note that this is all. */
export function opinionNote(clause: Clause): { refusal?: string } {
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
  const isOther = says(clause, /\b(?:why|function|class|bug|error|mean|wrong|version|weather|time)\b/)
  return isHere && !isOther && clause.tokens.length <= 14 ? one("ls", {}) : undefined
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

const manifests = "{pyproject.toml,requirements.txt,setup.py,Cargo.toml,go.mod,pom.xml,Gemfile,composer.json}"

/** Questions about the project as a whole: its README says, or its package.json. */
function about(clause: Clause): Proposal | undefined {
  const manifest = says(
    clause,
    /\b(?:dependenc(?:y|ies)|deps|npm scripts|scripts (?:are|does|do|can|exist|available)|(?:which|what|the|list|show|available) (?:\w+ )?scripts|version of (?:the|this) (?:project|package|app|repo)|(?:project|package|app) version|(?:name|version|license) of (?:the|this|my) (?:project|package|app)|which version (?:is this|of this|am i)|(?:what|which) version(?: of \w+)* is (?:this|it)|packages? (?:do|does|are) \w+ (?:use|used|depend|installed|need))\b/,
  )
  if (manifest && clause.tokens.length <= 12)
    return {
      ...one("read", { path: "package.json" }),
      instead: { tool: "glob", args: { pattern: manifests } },
    }
  if (!purpose.test(clause.shape)) return undefined
  return { calls: [{ tool: "read", args: { path: "README.md" } }], instead: { tool: "ls", args: {} } }
}

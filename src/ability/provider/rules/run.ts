// Running a command with `bash`: only one that stands in the request word for word.
import { type Clause, slice } from "./clause.ts"
import { isClearProgram, isProgram, verbs } from "./lexicon.ts"
import { type Call, type Proposal, says } from "./skill.ts"
import { isTyped, literal } from "./typed-command.ts"

/** Commands that only tell something, so that asking for what they print is asking to run them. */
const telling =
  /^(?:git (?:status|log|diff|show|rev-parse|describe|blame|ls-files|shortlog)\b(?!.*--output)|git branch(?: -a| -r| -v| --show-current)?$|git remote(?: -v)?$|(?:date|pwd|whoami|uname|hostname|uptime|id|env|nproc)$|(?:uname|echo|wc|du|df|ls|cat|head|tail|ps|which)\b|[\w.-]+ (?:--version|-v|-V|version)$|npm (?:ls|list|outdated|view)\b|docker (?:ps|images)\b)/
const asksOutput =
  /^(?:what|what's|whats|which) .*\b(?:output|result|outcome) of (?:running |executing |the command )?Q$|^(?:what|what's|whats) (?:does|would|do) (?:the command )?Q (?:print|output|say|show|return|give|report|tell|display)\b/
const asks = /^(?:how|what|what's|whats|why|when|should|is|are|does|did|explain|who|which|where|i)\b/

export function commands(clause: Clause): Proposal | undefined {
  const found = says(clause, asks) ? askedOutput(clause) : commandsIn(clause)
  if (!found.length) return undefined
  const options = optionsOf(clause)
  return { calls: found.map((command): Call => ({ tool: "bash", args: { command, ...options } })) }
}

/** "what's the output of `git status`?", "which node version is installed?" */
function askedOutput({ quotes, shape }: Clause): string[] {
  const version = /^(?:what|which) version of (\w+) |^(?:what|which) (\w+) version /.exec(`${shape} `)
  const program = version?.[1] ?? version?.[2] ?? ""
  if (/^(?:node|npm|python3?|git|go|ruby|docker|java|cargo|deno|bun)$/.test(program))
    return [`${program} ${program === "go" ? "version" : "--version"}`]
  const command = quotes.length === 1 ? quotes[0]!.text.trim() : ""
  return asksOutput.test(shape) && telling.test(command) && !/[;&|<>`$\n]/.test(command) ? [command] : []
}

const lead =
  /^(?:the|this|these|a|following|commands?|shell|script|in|terminal|bash|line|:|\n|tool|me|again|both|all|just|cli|two|three|for)$/

function commandsIn(clause: Clause): string[] {
  const { quotes, tokens, words, verb } = clause
  if (verbs.run.has(verb) || /^(?:running|executing)$/.test(verb)) {
    const told = quotes.filter(
      ({ sign, text }) => text.trim() && (sign !== "```" || text.trim().split("\n").length <= 20),
    )
    if (told.length && !isArgument(clause)) return isObject(clause) ? told.map(({ text }) => text.trim()) : []
    let start = 1
    while (lead.test(tokens[start]?.lower ?? "") && !(words[start] === "bash" && isFollowed(clause, start)))
      start++
    const first = words[start] ?? ""
    const isMeant = tokens[start - 1]?.text === ":" && first !== ""
    // "the test suite" is no program, although `test` is one.
    const isNamed = /^(?:the|this|a)$/.test(words[start - 1] ?? "")
      ? isClearProgram(first) || first.includes("/")
      : isProgram(first)
    return isNamed || isMeant ? literal(raw(clause, start)) : behindWith(clause)
  }
  if (/^[$>!]$/.test(verb)) return tokens.length > 1 ? [raw(clause, 1)] : []
  if (/^(?:bash|shell|command|cmd|sh|terminal|console)$/.test(verb) && tokens[1]?.text === ":")
    return quotes.length === 1 && tokens.length === 3 ? [quotes[0]!.text.trim()] : [raw(clause, 2)]
  const used = quotes.length === 1 && isProgram(programOf(quotes[0]!.text)) ? quotes[0]! : undefined
  if (used) return isUsed(clause, used.sign) ? [used.text.trim()] : []
  if (imperative.test(verb)) return behindWith(clause)
  return isTyped(clause) ? literal(raw(clause, 0)) : []
}

/** What is done by a command that is named behind it: "install the dependencies with npm install". */
const imperative =
  /^(?:install|build|compile|test|lint|format|check|deploy|publish|release|start|restart|stop|clean|delete|remove|update|upgrade|commit|push|pull|get|do|try|count|tidy)$/

/** "do a `git pull`", "type `date` in the shell", "delete it with `rm -r build`", "`git status`" */
function isUsed({ shape, tokens, verb }: Clause, sign: string | undefined): boolean {
  if (tokens.length === 1) return sign === "`"
  const isTold = /^(?:do|kick|fire|trigger|try|issue|type|enter|use)$/.test(verb)
  if (
    isTold &&
    /^\w+ (?:(?:a|an|another|the|off|quick) )*Q(?: (?:in|into|on|at) (?:the |a |my )?(?:shell|terminal|console|command line|prompt|bash))?$/.test(
      shape,
    )
  )
    return true
  if (verbs.edit.has(verb) || verbs.search.has(verb) || verbs.write.has(verb)) return false
  return (
    /\b(?:with|using|via|by running|by executing|by) Q$/.test(shape) ||
    (imperative.test(verb) &&
      /: (?:just |please |then )?(?:run |execute |do |use |try |type )?Q$/.test(shape))
  )
}

function isFollowed({ tokens }: Clause, at: number): boolean {
  return tokens[at + 1] !== undefined && !/^(?:command|:)$/.test(tokens[at + 1]!.lower)
}

function behindWith(clause: Clause): string[] {
  const at = clause.words.findIndex(
    (word, i) =>
      i > 0 &&
      /^(?:with|using|via|:)$/.test(word || clause.tokens[i]!.text) &&
      isClearProgram(clause.words[i + 1] ?? ""),
  )
  return at < 0 ? [] : literal(raw(clause, at + 1))
}

/** The first quoted text is what shall be run, not something beside it. */
function isObject({ tokens, quotes }: Clause): boolean {
  const before = tokens.slice(1, tokens.indexOf(quotes[0]!))
  return (
    before.every(({ lower }) => lead.test(lower)) ||
    /^(?:with|using|via|by|commands?|:|script)$/.test(before.at(-1)!.lower)
  )
}

/** `run git commit -m "fix it"`: the quotes are a part of the command. */
function isArgument({ words, quotes, tokens }: Clause): boolean {
  const at = tokens.indexOf(quotes[0]!)
  return quotes[0]!.sign !== "`" && words.slice(1, at).some((word) => isProgram(word) && word !== "bash")
}

function programOf(command: string): string {
  return command.trim().split(/\s/, 1)[0]!
}

const aside =
  /^(?:in the background|in background|in the (?:shell|terminal|console)|in bash|and (?:then )?(?:show|tell|report|see|let|give|check)|with a timeout|for me|please\b|to see|so that|to check if)/

/** What is written from here on, without the words around a command. */
function raw(clause: Clause, start: number): string {
  const { words, tokens } = clause
  const end = words.findIndex(
    (_, i) => i > start && tokens[i]!.kind === "word" && aside.test(words.slice(i, i + 4).join(" ")),
  )
  return slice(clause, start, end < 0 ? tokens.length : end)
    .replace(/[\s,;:]+$/, "")
    .trim()
}

function optionsOf(clause: Clause): Call["args"] {
  const limit =
    /\b(?:time ?(?:out|limit) (?:of |is )?|for at most )(\d{1,6}) ?(s|sec|seconds?|m|min|minutes?)?\b/.exec(
      clause.shape,
    )
  return {
    ...(limit ? { timeout: Number(limit[1]) * (/^m/.test(limit[2] ?? "") ? 60 : 1) } : {}),
    ...(says(clause, /\bin (?:the )?background\b/) ? { background: true } : {}),
  }
}

// Runs a command with `bash`, but only one that the request contains literally.
import { type Clause, slice } from "#ability/provider/rules/words/clause.ts"
import { isClearProgram, isProgram, verbs } from "#ability/provider/rules/words/lexicon.ts"
import { isFolder } from "#ability/provider/rules/words/recognize.ts"
import { type Proposal, says } from "./proposal.ts"

/** Read-only commands, which are run if the person asks for their output. */
const readOnly =
  /^(?:git (?:status|log|diff|show|rev-parse|describe|blame|ls-files|shortlog)\b(?!.*--output)|git branch(?: -a| -r| -v| --show-current)?$|git remote(?: -v)?$|(?:date|pwd|whoami|uname|hostname|uptime|id|env|nproc)$|(?:uname|echo|wc|du|df|ls|cat|head|tail|ps|which)\b|[\w.-]+ (?:--version|-v|-V|version)$|npm (?:ls|list|outdated|view)\b|docker (?:ps|images)\b)/
const asksOutput =
  /^(?:what|what's|whats|which) .*\b(?:output|result|outcome) of (?:running |executing |the command )?Q$|^(?:what|what's|whats) (?:does|would|do) (?:the command )?Q (?:print|output|say|show|return|give|report|tell|display)\b/
const asks = /^(?:how|what|what's|whats|why|when|should|is|are|does|did|explain|who|which|where|i)\b/

export function commands(clause: Clause): Proposal | undefined {
  const found = says(clause, asks) ? askedOutput(clause) : commandsIn(clause)
  if (!found.length) return undefined
  const inBackground = says(clause, /\bin (?:the )?background\b/)
  return {
    calls: found.map((command) => ({
      tool: "bash",
      args: { command, ...(inBackground ? { background: true } : {}) },
    })),
  }
}

/** "what's the output of `git status`?", "which node version is installed?" */
function askedOutput({ quotes, shape }: Clause): string[] {
  const version = /^(?:what|which) version of (\w+) |^(?:what|which) (\w+) version /.exec(`${shape} `)
  const program = version?.[1] ?? version?.[2] ?? ""
  if (/^(?:node|npm|python3?|git|go|ruby|docker|java|cargo|deno|bun)$/.test(program))
    return [`${program} ${program === "go" ? "version" : "--version"}`]
  const command = quotes.length === 1 ? quotes[0]!.text.trim() : ""
  return asksOutput.test(shape) && readOnly.test(command) && !/[;&|<>`$\n]/.test(command) ? [command] : []
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
    // In "run the test suite", `test` is not the program.
    const isNamed = /^(?:the|this|a)$/.test(words[start - 1] ?? "")
      ? isClearProgram(first) || first.includes("/")
      : isProgram(first)
    return isNamed || isMeant ? literalCommand(raw(clause, start)) : commandAfterWith(clause)
  }
  if (/^[$>!]$/.test(verb)) return tokens.length > 1 ? [raw(clause, 1)] : []
  if (/^(?:bash|shell|command|cmd|sh|terminal|console)$/.test(verb) && tokens[1]?.text === ":")
    return quotes.length === 1 && tokens.length === 3 ? [quotes[0]!.text.trim()] : [raw(clause, 2)]
  const used = quotes.length === 1 && isProgram(programOf(quotes[0]!.text)) ? quotes[0]! : undefined
  if (used) return isUsed(clause, used.sign) ? [used.text.trim()] : []
  if (imperative.test(verb)) return commandAfterWith(clause)
  return isTypedCommand(clause) ? literalCommand(raw(clause, 0)) : []
}

/** Verbs of sentences that name their command at the end: "install the dependencies with npm install". */
const imperative =
  /^(?:install|build|compile|test|lint|format|check|deploy|publish|release|start|restart|stop|clean|delete|remove|update|upgrade|commit|push|pull|get|do|try|count|tidy)$/

const shell = "(?:in|into|on|at) (?:the |a |my )?(?:shell|terminal|console|command line|prompt|bash)"
const told = new RegExp(
  `^(?:do|kick|fire|trigger|try|issue|use) (?:(?:a|an|another|the|off|quick) )*Q$|^(?:\\w+ )+Q ${shell}$|\\b(?:with|using|via|by running|by executing|by) Q$`,
)

/** "do a `git pull`", "type `date` in the shell", "delete it with `rm -r build`", "`git status`" alone. */
function isUsed({ source, shape, tokens, verb }: Clause, sign: string | undefined): boolean {
  if (tokens.length === 1)
    return sign === "`" && source.trim().length <= tokens[0]!.end - tokens[0]!.start + 1
  if (verbs.edit.has(verb) || verbs.search.has(verb) || verbs.write.has(verb)) return false
  const isAfterColon = /: (?:just |please |then )?(?:run |execute |do |use |try |type )?Q$/.test(shape)
  return told.test(shape) || (isAfterColon && imperative.test(verb))
}

function isFollowed({ tokens }: Clause, at: number): boolean {
  return tokens[at + 1] !== undefined && !/^(?:command|:)$/.test(tokens[at + 1]!.lower)
}

function commandAfterWith(clause: Clause): string[] {
  const at = clause.words.findIndex(
    (word, i) =>
      i > 0 &&
      /^(?:with|using|via|:)$/.test(word || clause.tokens[i]!.text) &&
      isClearProgram(clause.words[i + 1] ?? "") &&
      i + 2 < clause.tokens.length,
  )
  return at < 0 ? [] : literalCommand(raw(clause, at + 1)).filter((command) => command.includes(" "))
}

/** Whether the quoted text is the command to run: only words such as "run the command" are before it, and only words such
 * as "please" or "in the terminal" after it. */
function isObject({ tokens, quotes, shape }: Clause): boolean {
  const before = tokens.slice(1, tokens.indexOf(quotes[0]!))
  return before.every(({ lower }) => lead.test(lower) || /^(?:with|using)$/.test(lower)) && tail.test(shape)
}

const tail =
  /Q(?: (?:\n|,|:|and|then|Q|now|again|once|for me|please|too|first|here|there|locally|twice|with a timeout.*|for at most.*|as well|in .*|on .*|to .*|so .*|from .*))*$/

/** Whether the quoted text is an argument of the command, as in `run git commit -m "fix it"`. */
function isArgument({ words, quotes, tokens }: Clause): boolean {
  const at = tokens.indexOf(quotes[0]!)
  return quotes[0]!.sign !== "`" && words.slice(1, at).some((word) => isProgram(word) && word !== "bash")
}

function programOf(command: string): string {
  return command.trim().split(/\s/, 1)[0]!
}

const aside =
  /^(?:in the background|in background|in the (?:shell|terminal|console)|in bash|and (?:then )?(?:show|tell|report|see|let|give|check)|with a timeout|for me|please\b|to see|so that|to check if)/

/** The text from a token on, up to words that are not part of the command, such as "in the background". */
function raw(clause: Clause, start: number): string {
  const { words, tokens } = clause
  const end = words.findIndex(
    (_, i) => i > start && tokens[i]!.kind === "word" && aside.test(words.slice(i, i + 4).join(" ")),
  )
  return slice(clause, start, end < 0 ? tokens.length : end)
    .replace(/[\s,;:]+$/, "")
    .trim()
}

/** Programs that a tool of ours replaces. */
const tools = /^(?:ls|cat|head|tail|grep|rg|find|curl|wget|tree)$/

/** A flag that the tool does not need; with any other flag, the command is run as it is. */
function isPlainFlag(word: string): boolean {
  return /^-[rRnHiEsIh]+$|^--(?:recursive|line-number|ignore-case|with-filename|color\S*)$/.test(word)
}

/** Words that, right after the name of a program, show that the text is a sentence: "make the tests pass". */
const prose =
  /^(?:to|the|ahead|and|through|a|an|over|on|back|it|this|all|modules|version|file|my|is|are|for|was|has)$/

/** Whether a clause is a command as one types it, and not a sentence that begins with the name of a program. */
function isTypedCommand({ verb, words, tokens, quotes }: Clause): boolean {
  if (tokens[0]!.text !== verb || !isProgram(verb) || quotes.some(({ sign }) => sign === "`")) return false
  const rest = words.slice(1)
  const hasFlag = rest.some((word) => /^-{1,2}[a-z]/i.test(word))
  if (verb === "kill") return rest.length > 0 && rest.every((word) => /^-\w+$|^%?\d+$/.test(word))
  if (verb === "sed" && words.includes("in")) return false
  if (tokens.some(({ text }) => /^(?:\||\|\||&&|>|>>|2>&1)$/.test(text))) return true
  if (/^(?:grep|rg)$/.test(verb)) return rest.some((word) => word.startsWith("-") && !isPlainFlag(word))
  if (tools.test(verb)) return hasFlag && /^(?:find|curl|wget|tree|tail)$/.test(verb)
  if (isClearProgram(verb)) return !prose.test(rest[0] ?? "")
  if (!rest.length) return /^(?:date|env|history|make)$/.test(verb)
  if (verb === "make")
    return (
      rest.length === 1 &&
      /^(?:test|build|all|install|clean|lint|check|run|dev|format|release)$/.test(rest[0]!)
    )
  const isShort = rest.length <= 5 && !prose.test(rest[0]!) && tokens[1]!.kind === "word"
  const isUsual =
    /^(?:go|node|diff|touch|sudo|sleep|source|bundle|rails|gem|helm|stat|swift|composer|env|uv)$/
  return hasFlag || (isUsual.test(verb) && isShort) || /^\.{0,2}\//.test(verb)
}

/** The command, unless it is a sentence: "rm the old files" would remove something else. */
function literalCommand(command: string): string[] {
  if (/^(?:echo|printf)\b/.test(command)) return [command]
  const bare = command.replaceAll(/"[^"]*"|'[^']*'/g, "").slice(0, 2_000)
  const isSentence =
    /\s(?:the|on|me|my|our|that|which|it|them|those|these|every|everything|unused|old|stale|anything|some|whatever|all \w+|any \w+|of|please|this|and|then|an?|is|are|requires?|should|must|when)(?:\s|$)/i.test(
      bare,
    )
  return isSentence || !namesFiles(command) ? [] : [command]
}

/** A command that deletes or overwrites is run only if its words can be names of files. */
function namesFiles(command: string): boolean {
  const [program, ...rest] = command.trim().split(/\s+/)
  if (!/^(?:rm|rmdir|mv|shred|unlink|dd|truncate)$/.test(program!)) return true
  const names = rest.filter((word) => !word.startsWith("-"))
  return names.length === 1 || names.every((name) => /[./*~$"'=\d-]/.test(name) || isFolder(name))
}

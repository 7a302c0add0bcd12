// Running a command with `bash`: only one that stands in the request word for word.
import { type Clause, slice } from "../clause.ts"
import { isClearProgram, isProgram, verbs } from "../lexicon.ts"
import { type Call, type Proposal, says } from "../skill.ts"
import { askedOutput, gitIn } from "./asked-output.ts"
import { isTyped, literal } from "./typed-command.ts"

const asksAbout =
  /^(?:how|what|what's|whats|why|when|should|is|are|does|do(?! (?:a |an |the )?(?:Q|git\b))|did|explain|who|which|where)\b/

export function run(clause: Clause): Proposal | undefined {
  const commands = says(clause, asksAbout) ? askedOutput(clause) : commandsIn(clause)
  if (commands.length) {
    const options = optionsOf(clause)
    const calls = commands.map((command): Call => ({ tool: "bash", args: { command, ...options } }))
    return { score: 6, calls }
  }
  if (!verbs.run.has(clause.verb) || clause.verb === "start" || clause.verb === "call") return undefined
  return {
    score: 3,
    calls: [],
    refusal: "I only run a command that you write out, such as: run `npm test`",
  }
}

function commandsIn(clause: Clause): string[] {
  const { quotes, tokens, words, verb } = clause
  if (verbs.run.has(verb) || verb === "running" || verb === "executing") {
    const commands = quotes.filter(
      ({ sign, text }) => text.trim() && (sign !== "```" || text.trim().split("\n").length <= 20),
    )
    if (commands.length && !isArgument(clause)) {
      const isSure =
        isObject(clause) &&
        (/^(?:run|execute|exec|rerun|invoke|launch)$/.test(verb) ||
          commands.every(({ text }) => isProgram(programOf(text))))
      return isSure ? commands.map(({ text }) => text.trim()) : []
    }
    let start = 1
    while (
      /^(?:the|this|a|following|command|commands|shell|script|in|terminal|bash|line|:|tool|cli)$/.test(
        tokens[start]?.lower ?? "",
      ) &&
      !(words[start] === "bash" && tokens[start + 1] && !/^(?:command|:)$/.test(tokens[start + 1]!.lower))
    )
      start++
    const first = words[start] ?? ""
    const isMeant = tokens[start - 1]?.text === ":" && first !== ""
    // "the test suite" is no program, although `test` is one.
    const isNamed = /^(?:the|this|a)$/.test(words[start - 1] ?? "")
      ? isClearProgram(first) || first.includes("/")
      : isProgram(first)
    return isNamed || isMeant ? literal(raw(clause, start)) : behindWith(clause)
  }
  if (verb === "$" || verb === ">" || verb === "!") return tokens.length > 1 ? [raw(clause, 1)] : []
  if (/^(?:bash|shell|command|cmd|sh|terminal|console)$/.test(verb) && tokens[1]?.text === ":") {
    return quotes.length === 1 && tokens.length === 3 ? [quotes[0]!.text.trim()] : [raw(clause, 2)]
  }
  if (
    quotes.length === 1 &&
    tokens.length === 1 &&
    quotes[0]!.sign === "`" &&
    isProgram(programOf(quotes[0]!.text))
  )
    return [quotes[0]!.text.trim()]
  const isIn =
    /Q (?:in|into|on|at) (?:the |a |my )?(?:shell|terminal|console|command line|prompt|bash)$/.test(
      clause.shape,
    )
  const isShort = (tokens.length <= 4 || isIn) && quotes.length === 1 && quotes[0]!.sign === "`"
  if (
    (isShort || says(clause, /^\w+ (?:a|an|another|the|off|quick|a quick) Q$/)) &&
    /^(?:do|kick|fire|trigger|try|issue|type|enter|use)$/.test(verb) &&
    isProgram(programOf(quotes[0]!.text))
  )
    return [quotes[0]!.text.trim()]
  const used = quotes.length === 1 ? quotes[0]! : undefined
  if (
    used &&
    says(clause, /\b(?:with|using|via|by running|by executing|by) Q$/) &&
    isProgram(programOf(used.text)) &&
    !verbs.edit.has(verb) &&
    !verbs.search.has(verb) &&
    !verbs.write.has(verb)
  )
    return [used.text.trim()]
  const git = gitIn(clause)
  if (git) return [git]
  if (imperative.test(verb)) {
    const told =
      used?.sign === "`" &&
      says(clause, /: (?:just |please |then )?(?:run |execute |do |use |try |type )?Q$/) &&
      isProgram(programOf(used.text))
    return told ? [used.text.trim()] : behindWith(clause)
  }
  return isTyped(clause) ? literal(raw(clause, 0)) : []
}

/** What is done by a command that is named behind it: "install the dependencies with npm install". */
const imperative =
  /^(?:install|build|compile|test|lint|format|check|deploy|publish|release|start|restart|stop|clean|delete|remove|update|upgrade|commit|push|pull|get|do|try|count)$/

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
    before.every(({ lower }) =>
      /^(?:the|this|these|a|following|commands?|shell|script|in|terminal|bash|line|:|\n|tool|me|again|both|all|just|cli|two|three)$/.test(
        lower,
      ),
    ) || /^(?:with|using|via|by|command|commands|:|script)$/.test(before.at(-1)!.lower)
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

/** What is written from here on, without the words around a command. */
function raw(clause: Clause, start: number): string {
  let end = clause.tokens.length
  const { words, tokens } = clause
  for (let i = start + 1; i < words.length; i++) {
    const rest = words.slice(i, i + 4).join(" ")
    const isAside =
      /^(?:in the background|in background|in the (?:shell|terminal|console)|in bash|and (?:then )?(?:show|tell|report|see|let|give|check)|with a timeout|for me|please\b|to see|so that|to check if)/.test(
        rest,
      )
    if (isAside && tokens[i]!.kind === "word") {
      end = i
      break
    }
  }
  return slice(clause, start, end)
    .replace(/[\s,;:]+$/, "")
    .trim()
}

function optionsOf(clause: Clause): Call["args"] {
  const limit =
    /\btime ?(?:out|limit) (?:of |is )?(\d{1,6}) ?(s|sec|seconds?|m|min|minutes?)?\b|\bfor at most (\d{1,6}) ?(s|sec|seconds?|m|min|minutes?)\b/.exec(
      clause.shape,
    )
  const size = Number(limit?.[1] ?? limit?.[3])
  const isMinutes = /^m/.test(limit?.[2] ?? limit?.[4] ?? "")
  return {
    ...(limit ? { timeout: size * (isMinutes ? 60 : 1) } : {}),
    ...(says(clause, /\bin (?:the )?background\b/) ? { background: true } : {}),
  }
}

// Questions that a command answers which only tells something.
import type { Clause } from "../clause.ts"

/** Commands that only tell something, so that asking for what they print is asking to run them. */
const telling =
  /^(?:git (?:status|log|diff|show|rev-parse|describe|blame|ls-files|shortlog)\b(?!.*--output)|git branch(?: -a| -r| -v| --show-current)?$|git remote(?: -v)?$|(?:date|pwd|whoami|uname|hostname|uptime|id|env|nproc)$|(?:uname|echo|wc|du|df|ls|cat|head|tail|ps|which)\b|[\w.-]+ (?:--version|-v|-V|version)$|npm (?:ls|list|outdated|view)\b|docker (?:ps|images)\b)/

/** "what's the output of `git status`?", "what does `node -v` print?" */
export function askedOutput(clause: Clause): string[] {
  const { quotes, shape } = clause
  const command = quotes.length === 1 ? quotes[0]!.text.trim() : ""
  const isAsked =
    /^(?:what|what's|whats|which) .*\b(?:output|result|outcome) of (?:running |executing |the command )?Q$/.test(
      shape,
    ) ||
    /^(?:what|what's|whats) (?:does|would|do) (?:the command )?Q (?:print|output|say|show|return|give|report|tell|display)\b/.test(
      shape,
    )
  if (!quotes.length) {
    const git = gitIn(clause)
    return git ? [git] : []
  }
  return isAsked && telling.test(command) && !/[;&|<>`$\n]/.test(command) ? [command] : []
}

/** "show me the git log": git's commands that only tell something. */
export function gitIn({ shape, tokens }: Clause): string | undefined {
  if (tokens.length > 6) return undefined
  const found =
    /^(?:show|check|do|get|give|see|print|display|view|what|what's|whats|run|look)\b(?: (?:me|us|at|is|a|the|my|our|current))* git (status|log|diff|branch)$/.exec(
      shape,
    )
  return found ? `git ${found[1]}` : undefined
}

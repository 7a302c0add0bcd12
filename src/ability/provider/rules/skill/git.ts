// Questions that read-only git commands answer.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { quoted } from "./change.ts"
import { type Proposal, run } from "./proposal.ts"

const telling =
  /^(?:what|what's|whats|which|who|who's|when|how|show|list|give|get|tell|see|view|display|print|check|is|are|did|do|does|have|has|any|last|latest|recent|current|currently|git|the|my|all|on|diff|changes|status|log|history|branch|branches|commits?|contributors|authors|remotes?|tags|in|me|look|find|uncommitted|modified|changed|whose|since|\d+|name|blame)\b/
/** The first that fits is used. */
const questions: [RegExp, (file: string, count: string) => string][] = [
  [/\bhow many commits\b|\b(?:number|count) of commits\b/, () => "git rev-list --count HEAD"],
  [
    /\bhow many branches\b|\b(?:all|list|show|which|what|other|local|remote|the|our|my)\b.*\bbranches\b|^branches$/,
    () => "git branch --all",
  ],
  [
    /\b(?:contributors|authors|committers)\b|\bwho (?:works?|worked|contributed|contributes|develop\w*|maintains?|has contributed|has worked)\b/,
    () => "git shortlog -sn HEAD",
  ],
  [
    /\bwho (?:wrote|made|created|changed|edited|touched|modified|authored|owns?|last \w+|has \w+)\b.*F|\bblame F|\bauthors? of F/,
    (file) => `git log --format='%h %an, %ar: %s' -- ${file}`,
  ],
  [
    /\b(?:when|who)\b.*\b(?:changed?|modified|edited|touched|updated)\b.*F|\b(?:log|history|commits?)\b.*F/,
    (file) => `git log --format='%h %an, %ar: %s' -- ${file}`,
  ],
  [
    /\b(?:which|what|current|name)\b.*\bbranch\b|\bon (?:which|what) branch\b|^(?:git )?branch$|\bbranch (?:am i|are we|is this|name|is it)\b|\bcurrent branch\b|\b(?:show|see|print|tell|display|check) (?:me )?(?:the |my |our )?(?:git )?branch$/,
    () => "git branch --show-current",
  ],
  [
    /\b(?:last|latest|previous|newest|most recent|recent) commit\b(?!s)|\bwhat (?:was|is) (?:last )?committed\b|\bwho (?:made|did) the last commit|\bhead commit\b/,
    () => "git show --stat HEAD",
  ],
  [
    /\bcommits?\b|\bgit (?:log|history)\b|\b(?:commit|git|project|repo|version) history\b|^(?:log|history)$|\b(?:show|see|view|print|display) (?:me )?(?:the |a )?(?:log|history)\b/,
    (_, count) => `git log --oneline -${count || 10}`,
  ],
  [/\bremotes?\b(?! branch)/, () => "git remote -v"],
  [/\btags\b/, () => "git tag --sort=-creatordate"],
  [/\b(?:diff|changed?|changes|modif\w+|differences?)\b.*F/, (file) => `git diff HEAD -- ${file}`],
  [
    /\bdiffs?\b|\bwhat (?:did|have) (?:i|we|you) (?:just )?(?:change|changed|edit|edited|done)\b|\bdifferences?\b/,
    () => "git diff HEAD",
  ],
  [
    /\b(?:what|what's|whats|which|any|anything|show|list|see|files|are there|have|has|did|my|is|uncommitted|unstaged|recent|local|something)\b.*\b(?:changed|changes|modified|modifications|change|edited|different|dirty)\b|^(?:changes|modified|changed)\b|\b(?:uncommitted|unstaged|staged|untracked|not committed)\b|\bgit status\b|\bstatus of (?:the |this |my )?(?:repo|repository|git|working tree|project)\b|^status$|\b(?:working (?:tree|directory|copy)|repo|tree) (?:clean|dirty)\b/,
    () => "git status --short --branch && git diff HEAD --stat",
  ],
]

export function git(clause: Clause): Proposal | undefined {
  const { shape, quotes, globs, urls, files } = clause
  if (!telling.test(shape) || quotes.length || globs.length || urls.length || clause.tokens.length > 14)
    return undefined
  if (
    /\b(?:branch|commit|change|diff|tag|history|log)s? (?:of|in|to|from) (?:the )?D\b|\bchangelog\b|\bchange (?:the|it|this|my|a)\b/.test(
      shape,
    )
  )
    return undefined
  const file = files.length === 1 && /^[\w.@/+ ~-]+$/.test(files[0]!) ? files[0]! : undefined
  const count = /\b(\d{1,3})\b/.exec(shape)?.[1] ?? ""
  const plain = file ? shape : shape.replaceAll("F", "")
  const found = questions.find(([pattern]) => pattern.test(plain))
  if (!found || (files.length && !/F/.test(found[0].source))) return undefined
  return run(found[1](quoted(file ?? ""), count))
}

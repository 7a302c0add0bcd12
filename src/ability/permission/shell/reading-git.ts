// Commands of git that only read the repository of the workspace. They are allowed without a question, like reading
// files. In an untrusted folder, git runs no program of the folder (ability/shell/git-environment.ts).
import { resolve } from "node:path"
import type { Rule } from "#kernel/schema/schema.ts"
import * as Vcs from "#kernel/vcs.ts"
import { realOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { leadsOutside, namesFileForBlame } from "./leads-outside.ts"
import type { Place } from "./outside-targets.ts"
import { type SimpleCommand, splitCommand } from "./split-command.ts"

const list = (text: string) => text.split(" ")
const withOperands = list(
  "status diff log show blame shortlog describe rev-parse rev-list ls-files ls-tree merge-base name-rev show-ref",
)
/** Commands that may change something if they have more words. */
const alone = list("branch tag remote reflog")
  .concat("remote -v", "stash list", "tag -l", "tag --list")
  .concat(list("-a -r -v -vv -av -avv --all --list --show-current").map((option) => `branch ${option}`))
/** The allowed options. Others might write a file, run a program or read outside of the workspace (--output,
 * --ext-diff, --no-index). */
const options = new Set(
  list(
    "oneline stat shortstat numstat name-only name-status summary patch no-patch graph all branches tags remotes decorate no-decorate format pretty abbrev-commit abbrev no-abbrev date since until after before author committer grep max-count skip reverse follow first-parent merges no-merges topo-order date-order left-right cherry-pick cached staged merge-base porcelain short long branch untracked-files ignored show-stash ahead-behind color no-color word-diff color-words unified minimal patience histogram find-renames find-copies no-renames diff-filter ignore-all-space ignore-space-change ignore-blank-lines function-context no-ext-diff no-textconv exit-code quiet raw full-index relative check count contains always dirty match abbrev-ref show-toplevel show-prefix is-inside-work-tree verify symbolic-full-name others modified deleted stage exclude-standard error-unmatch heads line-porcelain show-email no-pager pickaxe-regex pickaxe-all ignore-case fixed-strings extended-regexp",
  ),
)
const short = /^-(\d+|[nUMCBL]\S*|[SG].*|u(no|normal|all)?|[pswbzvtrmcodkeilE]|sb|vv)$/s

/** Default rules. */
export const gitReading: readonly Rule[] = list("git git|--no-pager")
  .map((start) => start.replace("|", " "))
  .flatMap((git) => [
    ...alone.map((words) => `${git} ${words}`),
    ...withOperands.flatMap((name) => [`${git} ${name}`, `${git} ${name} *`]),
  ])
  .map((pattern) => ({ permission: "bash.execute", pattern, action: "allow" }))

/** Whether a git command only reads, and only in the workspace. */
export function readsGit(command: SimpleCommand, place: Place): boolean {
  return isReading(command) && staysInside(command, place)
}

/** Whether a line has git commands, and all of them only read. */
export function onlyReadsGit(line: string): boolean {
  const { commands, unclear } = splitCommand(line)
  const ofGit = commands.filter(isGit)
  return unclear === undefined && ofGit.length > 0 && ofGit.every(isReading)
}

function isGit({ words }: SimpleCommand): boolean {
  return words[0]?.text === "git"
}

function isReading(command: SimpleCommand): boolean {
  const { words, writes, sets } = command
  if (!isGit(command) || writes || sets || !words.every(({ isLiteral }) => isLiteral)) return false
  const texts = words.slice(1).map(({ text }) => text)
  const own = texts[0] === "--no-pager" ? texts.slice(1) : texts
  if (alone.includes(own.join(" "))) return true
  const [name = "", ...rest] = own
  const over = rest.indexOf("--")
  return withOperands.includes(name) && rest.every((word, i) => isHarmless(name, word, over >= 0 && i > over))
}

/** Whether the repository and the files that the words name are in the workspace, links followed. Without a repository,
 * `git diff` would compare any two files. */
function staysInside({ words }: SimpleCommand, { folders, worktree }: Place): boolean {
  const isIn = (path: string) => isInside(worktree, realOf(path) ?? path)
  return folders.every((path) => {
    // Git searches upwards from the real folder, even if the path has a link.
    const folder = realOf(path) ?? path
    const repository = Vcs.find(folder)
    if (!repository || !isIn(folder) || !Vcs.belongsTo(repository, worktree)) return false
    if (leadsOutside(repository, folder)) return false
    if (words.some(({ text }) => text === "blame") && namesFileForBlame(repository)) return false
    return words.every(({ text }) => isIn(resolve(folder, text)))
  })
}

function isHarmless(name: string, word: string, isPath: boolean): boolean {
  if (isPath || !word.startsWith("-")) return !/^[/~]|(^|[/:])\.\.(\/|$)/.test(word)
  if (word === "--") return true
  if (word.startsWith("--")) return options.has(word.slice(2).split("=", 1)[0]!)
  // Of blame, -S names a file.
  return short.test(word) && !(name === "blame" && word.startsWith("-S"))
}

// Finds targets outside of the workspace where a command would write or run something, by its words. A rule with a
// wildcard does not cover them. Links are not followed here.
import { homedir } from "node:os"
import { isAbsolute, resolve } from "node:path"
import { isInside } from "#util/file/resolve-inside.ts"
import type { SimpleCommand } from "./split-command.ts"
import { programOf } from "./unwrap.ts"
import type { ShellWord } from "./word.ts"

/** `folders`: where relative paths may start; `left`: those of them that are outside of the workspace. */
export type Place = { folders: string[]; worktree: string; left?: string[] }

const list = (text: string) => text.split(" ")
const nowhere = "/workspace of the rules alone"
/** For a check without a workspace: every absolute path is outside. */
export const noPlace: Place = { folders: [nowhere], worktree: nowhere }

/** Programs for which any word may be a path that they change or run in. */
const anyWord = new Set(
  list(
    "mv ln rm rmdir mkdir touch tee truncate chmod chown chgrp unlink shred mkfifo split csplit patch make gmake ninja cargo go npm pnpm yarn bun wget svn hg",
  ),
)
/** Programs whose last operand is the destination, unless an option names it. */
const lastWord = new Set(list("cp install rsync scp"))
/** Options whose value is a destination or a folder to run in. */
const options: Record<string, RegExp> = {
  cp: /^(-[a-zA-Z]*t|--target-directory)$/,
  install: /^(-[a-zA-Z]*t|--target-directory)$/,
  tar: /^(-[a-zA-Z]*C|--directory|--one-top-level)$/,
  bsdtar: /^(-[a-zA-Z]*C|--directory)$/,
  unzip: /^-[a-zA-Z]*d$/,
  env: /^(-[a-zA-Z]*C|--chdir)$/,
}
/** Other programs that write or run in the current folder. */
const others = new Set(list("git tar bsdtar unzip zip dd gh"))
const archivers = new Set(["tar", "bsdtar"])
/** Subcommands of git that write only in the repository, whatever their words are. */
const gitStays =
  /^(add|annotate|blame|branch|cat-file|check-ignore|cherry|cherry-pick|commit|count-objects|describe|diff|diff-tree|for-each-ref|fsck|gc|grep|log|ls-files|ls-tree|merge|merge-base|mv|name-rev|notes|range-diff|rebase|reflog|rev-list|rev-parse|revert|rm|shortlog|show|show-branch|show-ref|stash|status|symbolic-ref|tag|var|version|whatchanged)$/
/** A line with more moves (`cd`, `pushd`) counts as one that leaves the workspace. */
const maxMoves = 20
const device = /^\/dev\/(null|zero|full|tty|stdin|stdout|stderr|fd\/\d+)$/
/** Variables that hold a folder of the person or of the system. */
const elsewhere = /^\$\{?(HOME|OLDPWD|TMPDIR|TMP|TEMP|XDG_\w+)\b/
const upwards = /(^|[/{,])\.\.([/},]|$)/

/** Adds the folders that the commands of a line change to. Any of them may apply to any command, because parentheses
 * limit a move and loops repeat it. */
export function withMoves(commands: SimpleCommand[], place: Place): Place {
  const moves = commands.filter(isMove)
  if (!moves.length) return place
  const [start = ""] = place.folders
  const folders = new Set(place.folders)
  let here = start
  for (const { words } of moves.slice(0, maxMoves)) {
    const text = operandsOf(words.slice(1))[0]?.text ?? "~"
    if (text === "-") continue
    const path = elsewhere.test(text) ? homedir() : fromHome(text)
    here = resolve(here, path)
    folders.add(here).add(resolve(start, path))
  }
  const left = [...folders].filter((folder) => !isInside(place.worktree, folder))
  if (moves.length > maxMoves) left.push("/")
  return { ...place, folders: [...folders], left }
}

function isMove({ words }: SimpleCommand): boolean {
  return words[0]?.text === "cd" || words[0]?.text === "pushd"
}

/** The paths outside of the workspace that a command names, or the outside folders that it may run in. */
export function outsideTargets(command: SimpleCommand, place: Place): string[] {
  const [name, ...args] = command.words
  const program = programOf(name?.text ?? "")
  const words = targetWords(program, args)
  const found = words.flatMap((word) => candidates(word).filter((path) => isOutside(path, word, place)))
  if (isGlobalInstall(program, args)) found.push("-g")
  if (place.left && (anyWord.has(program) || lastWord.has(program) || others.has(program)))
    found.push(...place.left)
  return found
}

/** Whether a pattern names each target before its first star. */
export function namesTargets(pattern: string, targets: string[]): boolean {
  if (!targets.length) return true
  const named = pattern
    .split(/\s+/)
    .flatMap((word) => [word, word.slice(word.indexOf("=") + 1)])
    .map((word) => word.split("*", 1)[0]!)
    .filter((start) => /^(\.\.|\/.|~|-g)/.test(start))
  return targets.every((target) => named.some((start) => target.startsWith(start)))
}

function targetWords(program: string, args: ShellWord[]): ShellWord[] {
  const over = args.findIndex(({ text }) => text === "--")
  const own = over < 0 ? args : args.slice(0, over)
  if (program === "git") return gitStays.test(operandsOf(own)[0]?.text ?? "") ? [] : args
  // Words after "--" are for the script that runs there.
  if (/^(npm|pnpm|yarn|bun|cargo|go)$/.test(program)) return own
  if (anyWord.has(program)) return args
  if (program === "dd") return args.filter(({ text }) => text.startsWith("of="))
  if (program === "zip") return operandsOf(args).slice(0, 1)
  if (program === "gh") return /^repo clone /.test(textOf(operandsOf(args))) ? args : []
  const named = Object.hasOwn(options, program) ? valuesOf(args, options[program]!) : []
  // With letters but no dash (`tar xC DIR`), any later word may be the folder.
  if (archivers.has(program)) return isCreating(args) || /^\w*C/.test(args[0]?.text ?? "") ? args : named
  return lastWord.has(program) ? [...named, ...operandsOf(args).slice(-1)] : named
}

/** The values of an option: in the next word, after "=", or right after its letter. */
function valuesOf(args: ShellWord[], option: RegExp): ShellWord[] {
  return args.filter(({ text }, i) => {
    if (option.test(args[i - 1]?.text ?? "")) return true
    const letters = /^-[a-zA-Z]+(?=[./~$])/.exec(text)?.[0]
    return option.test(text.split("=", 1)[0]!) || (letters !== undefined && option.test(letters))
  })
}

function operandsOf(args: ShellWord[]): ShellWord[] {
  return args.filter(({ text }) => !text.startsWith("-"))
}

function textOf(words: ShellWord[]): string {
  return words.map(({ text }) => text).join(" ")
}

function isCreating([first, ...rest]: ShellWord[]): boolean {
  const modes = [first?.text ?? "", ...rest.map(({ text }) => text).filter((text) => text.startsWith("-"))]
  return modes.some((text, i) =>
    (i === 0
      ? /^-?[a-zA-Z]*[cruA]/
      : /^-[a-zA-Z]*[cruA]|^--(create|append|update|concatenate|catenate)$/
    ).test(text),
  )
}

function isGlobalInstall(program: string, args: ShellWord[]): boolean {
  if (!/^(npm|pnpm|yarn|bun)$/.test(program)) return false
  const isGlobal = args.some(({ text }) => /^(-[a-zA-Z]*g|--global|--location=global|global)$/.test(text))
  return isGlobal && args.some(({ text }) => /^(i|install|add|un\w*|remove|rm|up\w*|link|ci)$/.test(text))
}

/** The parts of a word that may be a path: all of it, and what follows "=" or a letter. */
function candidates({ text }: ShellWord): string[] {
  const at = text.indexOf("=")
  return [
    ...(text.startsWith("-") ? [] : [text]),
    ...(at > 0 ? [text.slice(at + 1)] : []),
    ...(/^-[a-zA-Z]+[./~$]/.test(text) ? [text.replace(/^-[a-zA-Z]+/, "")] : []),
  ]
}

function isOutside(path: string, { isLiteral }: ShellWord, { folders, worktree }: Place): boolean {
  if (device.test(path)) return false
  if (!isLiteral && (elsewhere.test(path) || upwards.test(path))) return true
  if (/^~[^/]/.test(path)) return true
  const whole = fromHome(path)
  if (!isAbsolute(whole) && !upwards.test(whole)) return false
  return folders.some((folder) => !isInside(worktree, resolve(folder, whole)))
}

function fromHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? homedir() + path.slice(1) : path
}

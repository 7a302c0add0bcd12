// Whether a command may put a whole folder where skills are looked for: its scripts would be there without anybody having
// named them. Told by its words and by what is on the disk now; what is not known is taken to be a folder with scripts.
import * as Permission from "#ability/permission/permission.ts"
import { skillPlaces } from "#ability/skill/skill-places.ts"
import * as Config from "#kernel/config/config.ts"
import { realOf } from "#util/real-of.ts"
import { copiesTo } from "./copies-to.ts"
import { createSkillReach, type SkillReach } from "./skill-reach.ts"

type Command = Permission.SimpleCommand

/** These make, remove or name things one by one, and bring no folder along. */
const single = wordSet(
  "mkdir rmdir rm touch chmod cd pushd popd echo printf test [ [[ : true false pwd basename dirname realpath readlink export",
  "tee install truncate read set unset exit return sleep date",
)
const copiers = wordSet("cp mv ln rsync scp ditto")
/** What makes each of them unpack; unzip does, unless it is to show something. */
const unpackers: Record<string, (words: string[]) => boolean> = {
  tar: isTaking,
  bsdtar: isTaking,
  gtar: isTaking,
  jar: isTaking,
  unzip: (words) => !words.some((word) => /^-\w*[lptvZ]/.test(word)),
  cpio: (words) => words.some((word) => /^-\w*[ip]|^--(?:extract|pass-through)$/.test(word)),
  ...Object.fromEntries(["7z", "7za", "7zz", "7zr", "unrar"].map((name) => [name, isTakingByWord])),
}
/** Of git: what only looks or records, and what goes by commits, not by paths. */
const quietGit = wordSet(
  "add status diff log show commit ls-files ls-tree grep blame rev-parse rm stash tag branch fetch push reset shortlog",
  "describe check-ignore cat-file archive switch merge pull rebase cherry-pick revert init config remote",
)
const interpreters = /^(?:(?:ba|da|z|k|a)?sh|python[\d.]*|node|deno|bun|perl|ruby|php)$/
/** A command with more words than this is not looked at word by word. */
const maxWords = 1_000

export async function placesSkill(command: string, folders: string[]): Promise<boolean> {
  const places = skillPlaces((await Config.get()).skills?.root).map(({ folder }) => folder)
  const roots = [...new Set(places.flatMap((folder) => [folder, realOf(folder) ?? folder]))]
  const reach = createSkillReach({ folders, roots })
  const words = () => Permission.pathsIn(command).slice(0, maxWords).flatMap(piecesOf)
  const commands = Permission.commandsIn(command)
  if (!commands) return words().some(reach.names)
  const active = commands.filter((one) => !isQuiet(one))
  if (!active.length) return false
  if (assigned(command).some(reach.names)) return true
  // What is read from elsewhere, or goes to where a variable says, may be what the line is about.
  if (active.some((one) => isFed(one) || hasUnknownTarget(one)) && words().some(reach.names)) return true
  const isLost = commands.some(
    (one) => isMove(one) && argsOf(one).some((word) => /[$`*?]/.test(word) && reach.names(word)),
  )
  const from = isLost ? createSkillReach({ folders: [...folders, ...roots], roots }) : reach
  return active.some((one) => isPlacing(one, from))
}

function isQuiet(command: Command): boolean {
  const program = programOf(command)
  return program === "" || single.has(program) || Permission.isReader(command)
}

function isPlacing(command: Command, reach: SkillReach): boolean {
  const program = programOf(command)
  const words = argsOf(command)
  if (copiers.has(program)) return copiesTo(program, words, reach)
  if (Object.hasOwn(unpackers, program)) return unpackers[program]!(words) && unpacksTo(words, reach)
  if (program === "git") return movesByGit(words, reach)
  return words.flatMap(piecesOf).some(reach.names)
}

function isMove(command: Command): boolean {
  return /^(?:cd|pushd)$/.test(programOf(command))
}

/** It does what its input says. */
function isFed(command: Command): boolean {
  return interpreters.test(programOf(command)) && argsOf(command).every((word) => /^-[^c]*$/.test(word))
}

function hasUnknownTarget(command: Command): boolean {
  return (
    copiers.has(programOf(command)) &&
    argsOf(command).some((word, i, all) => i === all.length - 1 && /^[$`]/.test(word))
  )
}

/** The values of variables. */
function assigned(command: string): string[] {
  const values = [...command.matchAll(/(?<![^\s;&|(])[A-Za-z_]\w*=([^\s;&|]{1,4096})/g)].map(
    ([, value]) => value!,
  )
  return values.slice(0, maxWords).flatMap(piecesOf)
}

function programOf({ words }: Command): string {
  return Permission.programOf(words[0]?.text ?? "")
}

function argsOf({ words }: Command): string[] {
  return words.slice(1, maxWords).map(({ text }) => text)
}

/** What is in an archive nobody knows; over a project that has skills it may bring more of them. */
function unpacksTo(words: string[], reach: SkillReach): boolean {
  const goesElsewhere = words.some((word) =>
    /^(?:-\w*[Cd]|--directory|-[Co].+)$/.test(word.replace(/=.*/, "")),
  )
  const paths = [...words.flatMap(piecesOf), ...(goesElsewhere ? [] : ["."])]
  return paths.some((path) => reach.names(path) || reach.holds(path, "isThere"))
}

function movesByGit(words: string[], reach: SkillReach): boolean {
  const at = words.findIndex((word, i) => !word.startsWith("-") && !/^-[Cc]$/.test(words[i - 1] ?? ""))
  if (quietGit.has(words[at] ?? "")) return false
  const rest = words.slice(at + 1)
  // Without a name for it, a clone is called as what it comes from.
  const isClone = words[at] === "clone" || rest.includes("add")
  const called = isClone
    ? rest.map(
        (word) =>
          word
            .replace(/(?:\.git)?\/*$/, "")
            .split(/[/:]/)
            .at(-1)!,
      )
    : []
  return [...rest.flatMap(piecesOf), ...called].some(reach.names)
}

/** Whatever in a word may be a path: the value of an option, a name in a program's text. */
function piecesOf(word: string): string[] {
  const glued = /^-[A-Za-z](.+)$/.exec(word)?.[1]
  const parts = Permission.pathsIn(word).flatMap((path) => [path, ...path.split(/[,:]+/)])
  return [...new Set([...parts, ...(glued ? [glued] : [])])].filter(Boolean)
}

function isTaking(words: string[]): boolean {
  return words.some((word, i) => /^--(?:extract|get)$|^-\w*x/.test(word) || (i === 0 && /^\w*x/.test(word)))
}

function isTakingByWord([first = ""]: string[]): boolean {
  return first === "x" || first === "e"
}

function wordSet(...lines: string[]): Set<string> {
  return new Set(lines.join(" ").split(" "))
}

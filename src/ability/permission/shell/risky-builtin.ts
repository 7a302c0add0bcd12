// Builtins of the shell that change what runs, or that evaluate a text arithmetically and so may run what is in it.
import { changesWhatRuns } from "./variables.ts"
import type { ShellWord } from "./word.ts"

const list = (text: string) => new Set(text.split(" "))
/** Builtins that take names of variables. */
const naming = list(
  "export declare typeset local readonly read mapfile readarray unset getopts printf let wait test [",
)
const setting = list("export declare typeset local readonly read mapfile readarray unset getopts let wait")
/** Builtins that, with any argument, change the shell or run the argument. */
const changing = list("alias bind complete compopt compgen shopt enable fc history")
const harmlessSettings = list("errexit nounset pipefail xtrace verbose noglob noclobber nounset errtrace")

export function isRiskyBuiltin(program: string, args: ShellWord[]): boolean {
  const texts = args.map(({ text }) => text)
  if (changing.has(program)) return args.length > 0
  if (program === "hash") return texts.some((text) => text.startsWith("-"))
  if (program === "jobs") return texts.some((text) => /^-\w*x/.test(text))
  if (program === "set") return !isHarmlessSet(args)
  if (!naming.has(program)) return false
  // In "a[$(…)]" the subscript is evaluated, and run.
  if (texts.some((text) => /\[[^\]]*[$`]/.test(text) && program !== "[")) return true
  if (program === "test" || program === "[") return texts.includes("-v") || texts.includes("-R")
  if (program === "printf") return args[0]?.mayBeOption === true || /^-v/.test(texts[0] ?? "")
  if (!setting.has(program)) return false
  if (/^(mapfile|readarray)$/.test(program) && texts.some((text) => /^-\w*C/.test(text))) return true
  // A name reference, or a variable whose values are evaluated from now on.
  if (
    /^(declare|typeset|local|export|readonly)$/.test(program) &&
    texts.some((text) => /^[-+]\w*[ni]/.test(text))
  )
    return true
  if (args.some(({ isLiteral, pieces }) => !isLiteral && !/^\w+=/.test(pieces[0]!))) return true
  return texts.some((text) => changesWhatRuns(/^\w+/.exec(text)?.[0] ?? "")) || program === "let"
}

/** `set -euo pipefail` and the words of `set -- a b`; other settings change the meaning of later commands. */
function isHarmlessSet(args: ShellWord[]): boolean {
  for (const [i, { text, mayBeOption }] of args.entries()) {
    if (text === "--") return true
    if (mayBeOption) return false
    if (/^[-+]/.test(text)) {
      if (!/^[-+][eufvxCEo]+$/.test(text)) return false
    } else if (!/^[-+]\w*o$/.test(args[i - 1]?.text ?? "") || !harmlessSettings.has(text)) return false
  }
  return true
}

// Options and subcommands of git that run programs, write files or change what later commands run.
import type { ShellWord } from "./word.ts"

const gitOptions =
  "output output-directory exec-path config-env ext-diff textconv open-files-in-pager upload-pack receive-pack exec git-dir work-tree extcmd template upload-archive tool paginate filters export-marks in-place namespace super-prefix attr-source unsafe-paths".split(
    " ",
  )
/** They run what they are told, or change what later commands run. */
const gitCommands =
  /^(config|difftool|mergetool|filter-branch|hook|daemon|instaweb|web--browse|help|remote-.*|credential.*|send-email|p4|svn|cvsserver|shell|upload-pack|receive-pack|archive|maintenance|http-backend|fast-import|gui|citool|sh-.*)$/

/** `git log -5` is harmless; options before the subcommand and a few after it are not. */
export function isRiskyGit(words: ShellWord[]): boolean {
  const args = words.map(({ text }) => text)
  const at = args.findIndex((arg) => !arg.startsWith("-"))
  const before = at < 0 ? args : args.slice(0, at)
  if (before.some((arg) => /^-[^-]/.test(arg) && arg !== "-P" && arg !== "-v" && arg !== "-h")) return true
  const [subcommand = "", ...rest] = at < 0 ? [] : args.slice(at)
  const options = [...before, ...rest]
  if (gitCommands.test(subcommand) || options.some((arg) => /^ext::|^[\w+.-]+::/.test(arg))) return true
  if (options.some(isGitOption)) return true
  if (subcommand === "submodule" || subcommand === "bisect")
    return rest.some((arg) => arg === "foreach" || arg === "run")
  if (subcommand === "grep") return rest.some((arg) => /^-\w*O/.test(arg))
  if (subcommand === "rebase") return rest.some((arg) => /^-\w*[xi]/.test(arg) || arg === "--interactive")
  if (subcommand === "clone" || subcommand === "fetch" || subcommand === "ls-remote")
    return rest.some((arg) => /^-\w*[uc]/.test(arg))
  return /^(format-patch|bundle|diff|log|show)$/.test(subcommand) && rest.some((arg) => /^-o/.test(arg))
}

function isGitOption(arg: string): boolean {
  if (!arg.startsWith("--")) return false
  const name = arg.slice(2).split("=", 1)[0]!
  return name.length > 1 && gitOptions.some((option) => option.startsWith(name))
}

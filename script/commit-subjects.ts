// Checks the subjects of commits: `type(scope): summary`, at most 72 characters. Commits up to `base` are older than the
// rule. A shallow clone may lack `base`: the script then checks the commits that the clone has.
//   node script/commit-subjects.ts [folder]
import { execFileSync } from "node:child_process"

const base = "70c1bc2e8dbece411ed1ecf7e98f2b95f91b306d"
const types = "feat fix perf refactor style docs test build ci bench chore revert".split(" ")
const form = new RegExp(`^(${types.join("|")})\\([a-z0-9./-]+\\): \\S.*[^.\\s]$`)
const longest = 72
const mostCommits = 200

/** Returns the fault of a commit subject, or undefined. */
export function problemOf(subject: string): string | undefined {
  const { length } = [...subject]
  if (length > longest) return `has ${length} characters, at most ${longest} are allowed`
  if (!form.test(subject)) return `must be type(scope): summary, with a type of ${types.join(", ")}`
  return undefined
}

/** The commits that are checked, newest first, and a remark if they are not all. */
export function commitsOf(folder: string, from = base): { commits: string[][]; remark?: string } {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  const succeeds = (...args: string[]) => {
    try {
      git(...args)
      return true
    } catch {
      return false
    }
  }
  if (!succeeds("rev-parse", "HEAD")) return { commits: [], remark: "no git history: no subject is checked" }
  const isKnown = succeeds("merge-base", "--is-ancestor", from, "HEAD")
  const isShallow = git("rev-parse", "--is-shallow-repository") === "true"
  const missing = `${from.slice(0, 7)} is not in this history`
  if (!isKnown && !isShallow) return { commits: [], remark: `${missing}: no subject is checked` }
  const range = isKnown ? `${from}..HEAD` : "HEAD"
  const log = git("log", "--no-merges", `--max-count=${mostCommits}`, "--format=%h%x09%s", range)
  const commits = log ? log.split("\n").map((line) => line.split("\t")) : []
  if (isKnown) return { commits }
  return {
    commits,
    remark: `${missing}, a shallow clone: checking the ${commits.length} commits that it has`,
  }
}

function main(folder: string): void {
  const { commits, remark } = commitsOf(folder)
  if (remark) console.log(`commit subjects: ${remark}`)
  const bad = commits.flatMap(([id, subject = ""]) => {
    const problem = problemOf(subject)
    return problem ? [`${id} "${subject}" ${problem}`] : []
  })
  for (const line of bad) console.error(line)
  if (bad.length > 0) process.exitCode = 1
}

if (import.meta.main) main(process.argv[2] ?? import.meta.dirname)

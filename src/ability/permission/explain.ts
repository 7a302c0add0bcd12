// Explains to the model and the person why a call was not run, and what would allow it.
import { readPath } from "#util/wildcard.ts"
import { type Decision, isOutside, type Need, narrowest, shown } from "./evaluate.ts"
import { isOwnConfiguration } from "./protected-paths.ts"
import type { Answer, ShownNeed } from "./request-schema.ts"
import { formatRule, isFile } from "./rule.ts"

export type JudgedNeed = Need & Decision

export const sayChanged = "it has changed since it was allowed"
const maxTarget = 300

/** `bash.execute of "npm test"` */
export function sayNeed(need: Need & Pick<Decision, "changed">): string {
  const { permission, target } = need
  const short = target.length > maxTarget ? `${target.slice(0, maxTarget)}…` : target
  const notes = [
    ...(isOutside(need) ? ["outside of the workspace"] : []),
    ...(need.changed ? [sayChanged] : []),
  ]
  return `${permission} of ${JSON.stringify(short)}${notes.map((note) => ` (${note})`).join("")}`
}

/** A need as a question shows it. */
export function showNeed(need: Need & Decision): ShownNeed {
  const { permission, target, fingerprint, changed, parts } = need
  return {
    permission,
    target: isFile(permission) ? shown(target) : target,
    rules: narrowest({ permission, target }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(changed ? { changed } : {}),
    ...(parts ? { parts } : {}),
  }
}

export function sayDenied(tool: string, need: JudgedNeed): string {
  if (need.secret) return saySecret(tool, need)
  if (need.asset)
    return `"${tool}" was not run: ${sayNeed(need)} would run a file from the assets of a skill. Assets are data; they are read, never run.`
  const by = need.rule ? `the rule ${JSON.stringify(formatRule(need.rule))} (${sourceOf(need)})` : "the rules"
  return `"${tool}" was not run: ${sayNeed(need)} is denied by ${by}.`
}

function saySecret(tool: string, need: JudgedNeed): string {
  const flags = narrowest(need).map((rule) => `--allow ${quoted(formatRule(rule))}`)
  const how = flags.length ? `: ${flags.join(" ")}` : "."
  return `"${tool}" was not run: ${sayNeed(need)} would reach vitamin's own keys and tokens. Only a rule that names them allows it${how}`
}

/** Explains a call that needs a question when nobody can be asked, and names the option of the command line or the
 * library that would allow it. */
export function sayNobody(
  tool: string,
  needs: JudgedNeed[],
  { isEmbedded = false, hasFailed = false } = {},
): string {
  const what = needs.map(sayNeed).join(" and ")
  const listeners = hasFailed
    ? "every listener for questions failed (see the log)"
    : "nothing listens for questions"
  const reason = isEmbedded ? listeners : "nobody can be asked here"
  const remedy = isEmbedded ? optionsFor(needs) : flagsFor(needs)
  return `"${tool}" was not run: ${what} needs a person's permission, and ${reason}. ${remedy}`
}

/** What a program that embeds us can do. */
function optionsFor(needs: JudgedNeed[]): string {
  const rules = needs.map((need) => narrowest(need))
  const isProtected = needs.some((need) => need.protected)
  const options = [
    ...(rules.every(({ length }) => length > 0) ? [`rules: ${JSON.stringify(rules.flat())}`] : []),
    ...(isProtected ? [] : ['asks: "once"']),
  ]
  const listen = "Bus.subscribe(Permission.Requested, …) with Permission.reply(id, …) answers questions"
  return options.length
    ? `Session.prompt({ ${options.join(" }) or Session.prompt({ ")} }) would allow it; ${listen}.`
    : `Only a person can allow it: ${listen}.`
}

/** `--allow "bash.execute:npm test" or --yes would allow it.` */
export function flagsFor(needs: (Need & { protected?: true | undefined })[]): string {
  const rules = needs.map((need) => narrowest(need))
  const flags = rules.every(({ length }) => length > 0)
    ? [
        rules
          .flat()
          .map((rule) => `--allow ${quoted(formatRule(rule))}`)
          .join(" "),
      ]
    : []
  const isProtected = needs.some((need) => need.protected)
  const all = isProtected ? flags : [...flags, "--yes"]
  const why = isProtected ? `${whyProtected(needs)}: ` : ""
  return all.length ? `${why}${all.join(" or ")} would allow it.` : `${why}only a person can allow it.`
}

/** Why `--yes` and rules with wildcards are not enough. */
export function whyProtected(needs: Need[]): string {
  const isLink = (need: Need) => isOutside(need) && !isOwnConfiguration(readPath(shown(need.target)))
  return needs.some(isLink)
    ? "A link leads out of the workspace"
    : "It would change what runs on this machine"
}

export function sayRejected(tool: string, { by, message }: Answer): string {
  if (by === "time" || (by === "rule" && message)) return `"${tool}" was not run: ${message}.`
  if (by === "end") return `"${tool}" was not run: the prompt ended before anybody answered.`
  return `"${tool}" was not run: the person rejected it${message ? ` and says: ${message}` : "."}`
}

function sourceOf({ source }: Decision): string {
  if (source === "mode") return "plan mode"
  return source === "default" ? "built in" : (source ?? "unknown")
}

/** Quoted for a shell. */
function quoted(text: string): string {
  return /["$`\\!\p{Cc}]/u.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`
}

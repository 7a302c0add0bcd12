// Shows files that need a review, one after the other: the whole difference, escaped for the terminal. The shown
// content is what gets trusted, even if the file changes meanwhile.
import { lineDiff } from "#ability/file/line-diff.ts"
import { hashOf } from "#kernel/reviewed/reviewed.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Ask, converse } from "./converse.ts"
import { safeText } from "./safe-text.ts"

const choices = "[y]es, [n]o, [a]ll that is left, [q]uit: "
const yesOrNo = "[y]es, [n]o: "

/** Returns the files that the person trusts. */
export async function reviewChanges(changes: readonly Trust.Change[]): Promise<Trust.Change[]> {
  const never = new AbortController().signal
  return (await converse(never, (ask) => askForEach(changes, ask))) ?? []
}

/** One line about a change. */
export function summaryOf({ path, state, before, after }: Trust.Change): string {
  const text = after && Trust.textOf(after)
  const counts = () => {
    const { additions, deletions } = lineDiff(before ?? "", text ?? "")
    return `  +${additions} -${deletions}`
  }
  const hash = after ? `  sha256:${hashOf(after).slice(0, 16)}` : ""
  return `  ${state.padEnd(8)} ${path}${hash}${after && text === undefined ? "" : counts()}\n`
}

async function askForEach(changes: readonly Trust.Change[], ask: Ask): Promise<Trust.Change[]> {
  const accepted: Trust.Change[] = []
  for (const [i, change] of changes.entries()) {
    const place = `${i + 1} of ${changes.length}`
    const answer = await askForOne(`${place}: ${show(change)}${questionOf(change)} `, choices, ask)
    if (answer === "q") break
    if (answer === "a") return [...accepted, ...(await askForAll(changes.slice(i), ask))]
    if (answer === "y") accepted.push(change)
  }
  return accepted
}

/** Shows what was not shown yet, and asks once about all of it. The first one is shown already. */
async function askForAll(left: readonly Trust.Change[], ask: Ask): Promise<readonly Trust.Change[]> {
  if (left.length === 1) return left
  const forgets = left.some(({ state }) => state === "removed")
  const note = forgets ? " The deny and ask rules of removed files are forgotten." : ""
  const question = `Accept these ${left.length} files as they are shown?${note}`
  const shown = left.slice(1).map(show).join("")
  return (await askForOne(`${shown}${question} `, yesOrNo, ask)) === "y" ? left : []
}

/** Asks again until the answer is one of the choices; the end of the input means no. */
async function askForOne(question: string, offered: string, ask: Ask): Promise<"y" | "n" | "a" | "q"> {
  const line = await ask(question + offered)
  if (line === undefined) return "q"
  const answer = /^\s*(y|n|a|q)(es|o|ll|uit)?\s*$/i.exec(line)?.[1]?.toLowerCase()
  return answer && offered.includes(`[${answer}]`) ? (answer as "y") : askForOne("", offered, ask)
}

function questionOf({ state }: Trust.Change): string {
  return state === "removed" ? "Forget this file and its deny and ask rules?" : "Trust this file?"
}

function show({ path, state, before, after }: Trust.Change): string {
  const title = safeText(`${state} ${path}\n`)
  if (state === "removed") return title
  const text = Trust.textOf(after!)
  if (text === undefined)
    return `${title}It cannot be shown: ${after!.length} bytes, sha256 ${hashOf(after!)}\n`
  const lost = state === "changed" && before === undefined
  const { diff } = lineDiff(before ?? "", text, {
    show: (line) => Secret.redact(safeText(line)),
    isWhole: true,
  })
  return `${title}${lost ? "The reviewed version is not known; the whole file is shown.\n" : ""}${diff || "It is empty.\n"}`
}

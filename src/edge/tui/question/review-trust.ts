// Review of the files that can run something in this folder: each difference goes into the scrollback as a whole, then one
// key answers. What was shown is what gets trusted, even if the file changes meanwhile.
import type { Client } from "#client/client.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { wrapTo } from "#edge/tui/screen/width.ts"
import type { Ask } from "./ask.ts"

type Change = Awaited<ReturnType<Client["listUntrusted"]>>["changes"][number]

export type ReviewOptions = {
  client: Client
  ask: Ask
  /** Draws a unified diff. */
  diff(preview: string, view: View): Line[]
  print(lines: Line[]): void
  view(): View
}

const yesOrNo = { y: "yes", n: "no" }
const answers = { ...yesOrNo, a: "all that is left", q: "quit" }
const namedFiles = 3

/** One line about files that wait, or undefined if none does. */
export async function untrustedNotice(client: Client): Promise<string | undefined> {
  const { changes } = await client.listUntrusted()
  if (!changes.length) return undefined
  const names = changes.slice(0, namedFiles).map(({ path }) => path)
  const more = changes.length > namedFiles ? " …" : ""
  return `Not trusted, so not used: ${names.join(", ")}${more} (/trust shows what would run)`
}

/** Asks about one file after the other, and trusts those that were accepted. */
export async function reviewTrust(options: ReviewOptions): Promise<void> {
  const { client, ask, print, view } = options
  const { changes } = await client.listUntrusted()
  const say = (text: string) => print([view().paint("dim", safeLine(text))])
  if (!changes.length) return say("Nothing in this folder waits for review.")
  const accepted: Change[] = []
  /** The first one is shown already. */
  const acceptsAll = async (left: readonly Change[]): Promise<boolean> => {
    print(left.slice(1).flatMap((change) => linesOf(change, options)))
    const forgets = left.some(({ state }) => state === "removed")
    const note = forgets ? " The deny and ask rules of removed files are forgotten." : ""
    const question = `Accept these ${left.length} files as they are shown?${note}`
    return (await ask.decide(question, yesOrNo)) === "y"
  }
  for (const [i, change] of changes.entries()) {
    print(linesOf(change, options))
    const place = `${i + 1} of ${changes.length}`
    const left = changes.slice(i)
    const answer = await ask.decide(`${questionOf(change)} (${place})`, answers)
    if (answer === "y") accepted.push(change)
    if (answer === "a" && (left.length === 1 || (await acceptsAll(left)))) accepted.push(...left)
    if (answer !== "y" && answer !== "n") break
  }
  if (!accepted.length) return say("Nothing was trusted.")
  const files = accepted.map(({ path, hash }) => ({ path, ...(hash ? { hash } : {}) }))
  const { trusted, problems } = await client.trustFiles({ files })
  print(problems.flatMap((line) => wrapTo(view().paint("error", `✗ ${safeLine(line)}`), view().columns)))
  say(`Trusted: ${trusted.join(", ")}`)
}

function linesOf({ path, state, diff, bytes, hash }: Change, { view, diff: draw }: ReviewOptions): Line[] {
  const { columns, paint } = view()
  const title = wrapTo(paint("strong", `${state} ${safeLine(path)}`), columns)
  if (state === "removed") return title
  if (diff === undefined) return [...title, `It cannot be shown: ${bytes} bytes, sha256 ${hash}`]
  return [...title, ...(diff ? draw(safe(diff), view()) : ["It is empty."])]
}

function questionOf({ path, state }: Change): string {
  const question =
    state === "removed" ? "Forget this file and its deny and ask rules?" : "Trust this file as it is shown?"
  return `${question} ${safeLine(path)}`
}

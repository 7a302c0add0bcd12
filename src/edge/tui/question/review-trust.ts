// Review of the files that can run something in this folder: each difference goes into the scrollback as a whole, then one
// key answers. What was shown is what gets trusted, even if the file changes meanwhile.
import type { Client } from "#client/client.ts"
import type { Key } from "#edge/tui/input/key.ts"
import type { Line, Tail, View } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { wrapTo } from "#edge/tui/screen/width.ts"
import { createQuiet, type Open, type Panel } from "./panel.ts"

type Change = Awaited<ReturnType<Client["listUntrusted"]>>["changes"][number]
type Answer = "yes" | "no" | "all" | "quit"

type Options = {
  client: Client
  open: Open
  /** Draws a unified diff. */
  diff(preview: string, view: View): Line[]
  print(lines: Line[]): void
  view(): View
  /** When the person last typed. */
  typedAt(): number
}

const answers: Record<string, Answer> = { y: "yes", n: "no", a: "all", q: "quit" }
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
export async function reviewTrust(options: Options): Promise<void> {
  const { client, open, print, view } = options
  const { changes } = await client.listUntrusted()
  const say = (text: string) => print([view().paint("dim", safeLine(text))])
  if (!changes.length) return say("Nothing in this folder waits for review.")
  const accepted: Change[] = []
  const ask = async (question: string, choices: string): Promise<Answer> => {
    const isQuiet = createQuiet(options.typedAt())
    return (await open<Answer>((done) => createTrustPanel({ question, choices, isQuiet, done }))) ?? "quit"
  }
  /** The first one is shown already. */
  const acceptsAll = async (left: readonly Change[]): Promise<boolean> => {
    print(left.slice(1).flatMap((change) => linesOf(change, options)))
    const forgets = left.some(({ state }) => state === "removed")
    const note = forgets ? " The deny and ask rules of removed files are forgotten." : ""
    return (await ask(`Accept these ${left.length} files as they are shown?${note}`, "[y]es  [n]o")) === "yes"
  }
  for (const [i, change] of changes.entries()) {
    print(linesOf(change, options))
    const place = `${i + 1} of ${changes.length}`
    const left = changes.slice(i)
    const answer = await ask(`${questionOf(change)} (${place})`, "[y]es  [n]o  [a]ll that is left  [q]uit")
    if (answer === "yes") accepted.push(change)
    if (answer === "all" && (left.length === 1 || (await acceptsAll(left)))) accepted.push(...left)
    if (answer === "all" || answer === "quit") break
  }
  if (!accepted.length) return say("Nothing was trusted.")
  const files = accepted.map(({ path, hash }) => ({ path, ...(hash ? { hash } : {}) }))
  const { trusted, problems } = await client.trustFiles({ files })
  print(problems.flatMap((line) => wrapTo(view().paint("error", `✗ ${safeLine(line)}`), view().columns)))
  say(`Trusted: ${trusted.join(", ")}`)
}

function linesOf({ path, state, diff, bytes, hash }: Change, { view, diff: draw }: Options): Line[] {
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

type Asked = {
  question: string
  choices: string
  /** Whether a key is ignored, because the person was typing when the question came. */
  isQuiet(): boolean
  done(answer: Answer): void
}

function createTrustPanel({ question, choices, isQuiet, done }: Asked): Panel {
  function handle({ name, ctrl, alt }: Key): boolean {
    if (isQuiet()) return true
    const isOffered = !ctrl && !alt && choices.includes(`[${name}]`)
    const isLeft = name === "escape" || (ctrl && name === "c")
    const answer = isLeft ? "quit" : isOffered ? answers[name] : undefined
    if (answer) done(answer)
    return answer !== undefined
  }

  function view({ columns, paint }: View, rows: number): Tail {
    const title = wrapTo(paint("warning", question), columns)
    const foot = wrapTo(choices, columns)
    const lines = [...title.slice(0, Math.max(0, rows - foot.length)), ...foot].slice(-Math.max(1, rows))
    return { lines, caret: { row: lines.length - 1, column: 0 } }
  }

  return Object.freeze({ view, handle })
}

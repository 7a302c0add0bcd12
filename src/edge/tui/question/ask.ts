// How commands and the first start ask the person: a list, a few answers, or a secret. The full terminal opens a panel for
// each.
import type { Key } from "#edge/tui/input/key.ts"
import type { Tail, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf, wrapTo } from "#edge/tui/screen/width.ts"
import { createList, type List } from "./list-panel.ts"
import type { Open, Panel } from "./panel.ts"
import { createTextLine } from "./text-line.ts"

/** Words by their first letters: `{ y: "yes", n: "no" }`. */
type Answers<Letter extends string> = Readonly<Record<Letter, string>>

/** Each resolves to undefined if it was closed without an answer. */
export type Ask = Readonly<{
  choose<T>(list: List<T>): Promise<T | undefined>
  /** `signal` closes it. */
  decide<Letter extends string>(
    question: string,
    answers: Answers<Letter>,
    signal?: AbortSignal,
  ): Promise<Letter | undefined>
  /** One line that is never shown. */
  readSecret(label: string): Promise<string | undefined>
}>

type Options = { open: Open; changed(): void }

export function createAsk({ open, changed }: Options): Ask {
  return Object.freeze({
    choose: <T>(list: List<T>) => open<T>((done) => createList({ ...list, changed, done })),
    decide<Letter extends string>(question: string, answers: Answers<Letter>, signal?: AbortSignal) {
      return open<Letter>((done, isQuiet) => {
        signal?.addEventListener("abort", () => done(undefined))
        return createDecision({ question, answers, isQuiet, done })
      })
    },
    readSecret: (label: string) => open<string>((done) => createSecretLine(label, done)),
  })
}

type Decision<Letter extends string> = {
  question: string
  answers: Answers<Letter>
  /** Whether a key is ignored, because the person was typing when the question came. */
  isQuiet(): boolean
  done(answer: Letter | undefined): void
}

function createDecision<Letter extends string>(options: Decision<Letter>): Panel {
  const { question, answers, isQuiet, done } = options

  function handle({ name, ctrl, alt }: Key): boolean {
    if (isQuiet()) return true
    const isOffered = !ctrl && !alt && Object.hasOwn(answers, name)
    const isLeft = name === "escape" || (ctrl && name === "c")
    if (isLeft) done(undefined)
    else if (isOffered) done(name as Letter)
    return isLeft || isOffered
  }

  function view({ columns, paint }: View, rows: number): Tail {
    const words = Object.values<string>(answers).map((word) => `[${word[0]}]${word.slice(1)}`)
    const title = wrapTo(paint("warning", question), columns)
    const foot = wrapTo(words.join("  "), columns)
    const lines = [...title.slice(0, Math.max(0, rows - foot.length)), ...foot].slice(-Math.max(1, rows))
    return { lines, caret: { row: lines.length - 1, column: 0 } }
  }

  return Object.freeze({ view, handle })
}

/** One masked line. */
function createSecretLine(title: string, done: (text: string | undefined) => void): Panel {
  const line = createTextLine("", { isSecret: true })

  function handle(key: Key): boolean {
    if (key.name === "escape" || (key.ctrl && key.name === "c")) done(undefined)
    else if (key.name === "enter") done(line.text.trim() || undefined)
    else return line.handle(key)
    return true
  }

  function view({ columns, paint }: View): Tail {
    const label = cutTo(`${safeLine(title)} (enter stores it, esc leaves): `, Math.max(4, columns - 8))
    const input = line.view(Math.max(4, columns - widthOf(label) - 1))
    return {
      lines: [paint("strong", label) + input.line],
      caret: { row: 0, column: widthOf(label) + input.column },
    }
  }

  return Object.freeze({ view, handle })
}

// What commands and the first start ask, as lines: the entries of a list are numbered, and an answer is a letter or a word.
import type { Ask } from "#edge/tui/question/ask.ts"
import { findItems, type Item } from "#edge/tui/question/list-panel.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import type { Asked, AskedQueue } from "./asked.ts"

type Options = {
  questions: AskedQueue
  say(text: string): void
  /** Whether nothing of the next line is shown. */
  setHidden(isHidden: boolean): void
}

/** Longer lists are searched. */
const mostShown = 50

export function createPlainAsk({ questions, say, setHidden }: Options): Ask {
  let count = 0

  /** `create` makes the question from what is to be called with its answer. */
  function open<T>(
    create: (done: (value: T | undefined) => true) => Omit<Asked, "id" | "close">,
    signal?: AbortSignal,
  ) {
    return new Promise<T | undefined>((resolve) => {
      const id = `own-${++count}`
      const done = (value: T | undefined) => {
        resolve(value)
        return true as const
      }
      const asked = create(done)
      const close = () => {
        setHidden(false)
        resolve(undefined)
      }
      questions.add({ ...asked, id, close })
      signal?.addEventListener("abort", () => {
        resolve(undefined)
        questions.remove(id)
      })
    })
  }

  return Object.freeze({
    choose<T>({ title, items }: { title: string; items: readonly Item<T>[] }) {
      const numbers = new Map(items.map((item, i) => [item, i + 1]))
      const show = (found: readonly Item<T>[]) => {
        for (const item of found.slice(0, mostShown)) say(`${numbers.get(item)}. ${wordsOf(item)}`)
        if (found.length > mostShown) say(`${found.length - mostShown} more: type words to find them.`)
      }
      return open<T>((done) => ({
        show() {
          say(title)
          show(items)
          say("Type a number, or words to search. An empty line leaves the list.")
        },
        take(line) {
          if (!line) return done(undefined)
          const item = items[Number(line) - 1] ?? items.find(({ label }) => label === line)
          if (item) return done(item.value)
          const found = findItems(items, line)
          if (found.length) show(found)
          else say("Nothing fits.")
          return false
        },
      }))
    },
    decide<Letter extends string>(
      question: string,
      answers: Readonly<Record<Letter, string>>,
      signal?: AbortSignal,
    ) {
      const letters = Object.keys(answers) as Letter[]
      const choices = letters.map((letter) => `${letter} for ${answers[letter]}`).join(", ")
      const create = (done: (letter: Letter) => true) => ({
        show: () => say(`${question} Type ${choices}.`),
        take(line: string) {
          const letter = letters.find((one) => line && answers[one].startsWith(line.toLowerCase()))
          if (letter) return done(letter)
          say(`Type ${choices}.`)
          return false
        },
      })
      return open<Letter>(create, signal)
    },
    readSecret: (label: string) =>
      open<string>((done) => ({
        show() {
          // First: the key may come as soon as it is asked for.
          setHidden(true)
          say(`${label}: paste it and press Enter. Nothing of it is shown. An empty line leaves.`)
        },
        take: (line) => done(line || undefined),
      })),
  })
}

function wordsOf({ label, detail, isCurrent }: Item<unknown>): string {
  const name = safeLine(label) + (isCurrent ? " (in use)" : "")
  return detail ? `${name}: ${safeLine(detail)}` : name
}

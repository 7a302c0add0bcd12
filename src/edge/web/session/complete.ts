// What the composer completes: files after `@`, commands after `/`. Answers come late: one to an earlier question is dropped.
import { signal } from "@preact/signals"
import type { Client, Command } from "#client/client.ts"

export type Choice = { value: string; about: string }
type Token = { kind: "file" | "command"; start: number; end: number; query: string }

/** As the engine finds references to files (`@path`, `@"a path"`). */
const fileToken = /(?<![\w.+\-/\\@:=])@(?:"([^"\n]*)|([^\s"`<>|*?]*))$/
const commandToken = /^\/(\S*)$/
const needsQuotes = /[\s`<>|*?]/
const maxShown = 50

export type Completion = ReturnType<typeof createCompletion>

export function createCompletion({ client, id }: { client: Client; id: string }) {
  const choices = signal<readonly Choice[]>([])
  const selected = signal(0)
  let token: Token | undefined
  let asked = 0
  let commands: Promise<Command[]> | undefined

  /** After every change of the text or of the caret. */
  async function update(text: string, caret: number): Promise<void> {
    token = tokenAt(text, caret)
    const question = ++asked
    if (!token) return close()
    const found = await find(token).catch(() => [])
    if (question !== asked) return
    // An answer may come after the person has moved to a choice.
    const moved = selected.value > 0 ? choices.value[selected.value]?.value : undefined
    choices.value = found.slice(0, maxShown)
    selected.value = Math.max(
      0,
      choices.value.findIndex(({ value }) => value === moved),
    )
  }

  async function find({ kind, query }: Token): Promise<Choice[]> {
    if (kind === "file")
      return (await client.completeFile({ search: query })).map(({ path, isIgnored }) => ({
        value: path,
        about: isIgnored ? "ignored" : "",
      }))
    commands ??= client.listCommands({ session: id })
    const all = await commands.catch((error) => {
      commands = undefined
      throw error
    })
    const rank = (name: string) => (name === query ? 0 : name.startsWith(query) ? 1 : 2)
    return all
      .filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()))
      .sort((a, b) => rank(a.name) - rank(b.name))
      .map(({ name, kind, hint, description, server }) => ({
        value: name,
        about: [hint, description, server ? `prompt of ${server}` : kind].filter(Boolean).join(" · "),
      }))
  }

  function close(): void {
    asked++
    choices.value = []
    selected.value = 0
  }

  function move(step: 1 | -1): void {
    selected.value = (selected.value + step + choices.value.length) % choices.value.length
  }

  /** The text with a choice in the place of what was typed, and the caret behind it. */
  function accept(
    text: string,
    chosen = choices.value[selected.value],
  ): { text: string; caret: number } | undefined {
    if (!token || !chosen) return undefined
    const { kind, start, end } = token
    const isFolder = kind === "file" && chosen.value.endsWith("/")
    const quote = kind === "file" && needsQuotes.test(chosen.value) ? '"' : ""
    const after = text.slice(end)
    const blank = isFolder || after.startsWith(" ") ? "" : " "
    const put = `${kind === "file" ? "@" : "/"}${quote}${chosen.value}${isFolder ? "" : quote}${blank}`
    close()
    return { text: text.slice(0, start) + put + after, caret: start + put.length }
  }

  return Object.freeze({ choices, selected, update, close, move, accept })
}

function tokenAt(text: string, caret: number): Token | undefined {
  const before = text.slice(0, caret)
  if (before.startsWith("!")) return undefined
  const command = commandToken.exec(before)
  if (command) return { kind: "command", start: 0, end: caret, query: command[1]! }
  const file = fileToken.exec(before)
  if (!file) return undefined
  return { kind: "file", start: file.index, end: caret, query: file[1] ?? file[2] ?? "" }
}

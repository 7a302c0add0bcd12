// What commands work with. The terminal gives it to them, so that they need to know no part of it.
import type { Client, Session } from "#client/client.ts"
import type { Choice } from "#edge/tui/editor/completion.ts"
import type { Keymap } from "#edge/tui/input/keymap.ts"
import type { Ask } from "#edge/tui/question/ask.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import type { ThemeChoice } from "#edge/tui/screen/theme.ts"
import type { Preset } from "./preset.ts"

/** The conversation of the terminal. It has no session before the first prompt. */
type Talk = Readonly<{
  session: Session | undefined
  agent: string | undefined
  model: string | undefined
  /** As the status line shows it. */
  preset: string
  presets: readonly Preset[]
  send(text: string): Promise<void>
  use(session: Session): void
  setPreset(preset: Preset): Promise<void>
  choose(next: { agent?: string; model?: string }): Promise<void>
}>

export type Context = Readonly<{
  client: Client
  talk: Talk
  /** Plain mode has none: the terminal itself takes the keys. */
  keymap?: Pick<Keymap, "keysOf">
  /** The folder of this terminal, for files that it writes. */
  folder: string
  /** How the person calls the program. */
  command: string
  view(): View
  ask: Ask
  /** Lines for the scrollback. */
  print(lines: readonly Line[]): void
  /** A hint for a moment. */
  say(text: string): void
  /** Shows another session, or this one anew. */
  show(sessionId: string): Promise<void>
  /** Leaves the session; the next prompt begins a new one. */
  leave(): Promise<void>
  /** Replaces the text of the editor. */
  edit(text: string): void
  /** Sequences that neither print nor move the cursor. Plain mode writes none. */
  write?(sequence: string): void
  theme: Readonly<{ choice: ThemeChoice; choose(choice: ThemeChoice): void }>
  /** Asks for the key of a provider, and for its model. */
  signIn(provider: string | undefined): Promise<void>
  /** Asks about the files that are not trusted. */
  reviewTrust(): Promise<void>
  quit(): Promise<void>
}>

type ValueContext = Readonly<{ client: Client; session: string | undefined }>

export type Command = Readonly<{
  name: string
  about: string
  /** What may follow the name, such as `[name]`. */
  argument?: string
  /** What completes it. `query`: as far as it is typed. */
  values?(context: ValueContext, query: string): Promise<readonly Choice[]> | readonly Choice[]
  /** `rest` is what follows the name, without blanks around it. */
  run(context: Context, rest: string): Promise<void> | void
}>

/** The session, or an error for the person: most commands need one. */
export function sessionOf({ talk: { session } }: Context): Session {
  if (session) return session
  throw new Error("There is no session yet: send a prompt first, or choose one with /sessions.")
}

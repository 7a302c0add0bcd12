// How the terminal behaves around the conversation, by the settings `terminal.*`: the title of the window, the call when
// something waits and nobody looks, the animation while the agent works, the theme and the keys. Nothing here runs while the
// session is idle.
import { basename } from "node:path"
import type { Client } from "#client/client.ts"
import type { Conversation } from "#edge/tui/conversation/conversation.ts"
import type { Bindings, Keymap } from "#edge/tui/input/keymap.ts"
import { isConsole } from "#edge/tui/screen/console.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import type { Terminal } from "#edge/tui/screen/terminal.ts"
import type { ThemeChoice } from "#edge/tui/screen/theme.ts"
import { cutTo } from "#edge/tui/screen/width.ts"
import { createAttention } from "./attention.ts"

type Settings = {
  bell?: boolean
  notify?: boolean
  animation?: boolean
  theme?: ThemeChoice
  keys?: Bindings
}

type Options = {
  folder: string
  terminal: Pick<Terminal, "write" | "setTitle">
  keymap: Keymap
  theme: { configure(choice: ThemeChoice): void }
  /** Milliseconds between two draws; undefined stops them. */
  tick(interval: number | undefined): void
  /** When the person last typed. */
  typedAt(): number
}

/** Milliseconds between two pictures of the animation, and between two seconds of the clock. */
const picture = 200
const second = 1_000
const maxTitle = 80
const pictures = isConsole() ? "|/-\\" : "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

export function createManners({ folder, terminal, keymap, theme, tick, typedAt }: Options) {
  let settings: Settings = {}
  let isFocused: boolean | undefined
  let isBusy = false
  let startedAt = 0
  const attention = createAttention({
    write: terminal.write,
    isFocused: () => isFocused,
    usedAt: () => Math.max(startedAt, typedAt()),
    settings: () => ({ bell: settings.bell ?? true, notify: settings.notify ?? true }),
  })

  async function readSettings(client: Client): Promise<void> {
    settings = ((await client.getConfig()) as { terminal?: Settings }).terminal ?? {}
    theme.configure(settings.theme ?? "auto")
    setClock()
    keymap.bind(settings.keys ?? {})
  }

  function isAnimated(): boolean {
    return settings.animation !== false && isFocused !== false
  }

  /** The clock runs while the agent works, and slowly if nobody looks. */
  function setClock(): void {
    tick(isBusy ? (isAnimated() ? picture : second) : undefined)
  }

  /** The state of the session may have changed. `isAsking`: a question is open, so that the agent waits. */
  function follow({ session, busySince }: Conversation, isAsking: boolean): void {
    const title = session?.title ? `${basename(folder)}: ${session.title}` : basename(folder)
    terminal.setTitle(cutTo(safeLine(title), maxTitle))
    startedAt = busySince ?? startedAt
    const wasBusy = isBusy
    isBusy = busySince !== undefined && !isAsking
    if (wasBusy && busySince === undefined) attention.call(`${title}: the turn is over`)
    setClock()
  }

  return Object.freeze({
    readSettings,
    follow,
    asked: (title: string) => attention.call(`${basename(folder)} asks: ${title}`),
    setFocus(value: boolean) {
      isFocused = value
      setClock()
    },
    /** The picture of the animation, with a blank after it; empty without animation. */
    picture: () => (isAnimated() ? `${pictures[Math.floor(Date.now() / picture) % pictures.length]} ` : ""),
  })
}

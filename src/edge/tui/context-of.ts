// What the commands get of the terminal.
import type { Client } from "#client/client.ts"
import type { Context } from "#edge/tui/command/context.ts"
import type { createEditor } from "#edge/tui/editor/editor.ts"
import type { Screen } from "#edge/tui/screen/screen.ts"
import type { Terminal } from "#edge/tui/screen/terminal.ts"
import type { Conversation } from "./conversation.ts"

type Taken = "open" | "say" | "keymap" | "folder" | "command" | "theme" | "signIn" | "reviewTrust"

type Parts = Pick<Context, Taken> & {
  client: Client
  talk: Conversation
  screen: Screen
  editor: ReturnType<typeof createEditor>
  terminal: Terminal
  /** Undefined: the next prompt begins a new one. */
  openSession(id: string | undefined): Promise<void>
  leave(exitCode: number): Promise<void>
}

export function contextOf(parts: Parts): Context {
  const { client, talk, screen, editor, terminal, openSession, leave } = parts
  const { open, say, keymap, folder, command, theme, signIn, reviewTrust } = parts
  return {
    ...{ client, talk, open, say, keymap, folder, command, theme, signIn, reviewTrust },
    view: screen.view,
    refresh: screen.refresh,
    print: (lines) => screen.print(["", ...lines]),
    show: openSession,
    leave: () => openSession(undefined),
    // What was typed meanwhile is not lost.
    edit: (text) => editor.set(editor.text ? `${text} ${editor.text}` : text),
    write: terminal.write,
    quit: () => leave(0),
  }
}

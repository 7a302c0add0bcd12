// The commands of the terminal and what they get of it. Their code is loaded when the first one is typed.
import type { Client } from "#client/client.ts"
import type { Context } from "#edge/tui/command/context.ts"
import type { Conversation } from "#edge/tui/conversation/conversation.ts"
import type { Choice, Kind } from "#edge/tui/editor/completion.ts"
import type { createEditor } from "#edge/tui/editor/editor.ts"
import type { Screen } from "#edge/tui/screen/screen.ts"
import type { Terminal } from "#edge/tui/screen/terminal.ts"

type Taken = "ask" | "say" | "keymap" | "folder" | "command" | "theme" | "signIn" | "reviewTrust"

type Parts = Pick<Context, Taken> & {
  client: Client
  talk: Conversation
  screen: Screen
  editor: ReturnType<typeof createEditor>
  terminal: Terminal
  /** Undefined: the next prompt begins a new one. */
  show(id: string | undefined): Promise<void>
  leave(exitCode: number): Promise<void>
}

export type CommandLine = ReturnType<typeof createCommandLine>

export function createCommandLine(parts: Parts) {
  const { client, talk, screen, editor, terminal, show, leave } = parts
  const { ask, say, keymap, folder, command, theme, signIn, reviewTrust } = parts
  const context: Context = {
    ...{ client, talk, ask, say, keymap, folder, command, theme, signIn, reviewTrust },
    view: screen.view,
    print: screen.printBlock,
    show,
    leave: () => show(undefined),
    // What was typed meanwhile is not lost.
    edit: (text) => editor.set(editor.text ? `${text} ${editor.text}` : text),
    write: terminal.write,
    quit: () => leave(0),
  }

  return Object.freeze({
    /** False if the text is a prompt. */
    async run(text: string): Promise<boolean> {
      return (await import("#edge/tui/command/run-command.ts")).runCommand(context, text)
    },
    async goBack(): Promise<void> {
      await (await import("#edge/tui/command/branch.ts")).goBack(context)
    },
    async complete(kind: Kind, query: string, signal: AbortSignal): Promise<Choice[]> {
      const { complete } = await import("#edge/tui/command/complete.ts")
      return complete(kind, query, { client, session: talk.session?.id, signal })
    },
  })
}

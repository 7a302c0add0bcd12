// What the terminal says and asks before the first prompt: files that are not trusted, and which model answers. The same
// review and the same choice come back with /trust and /login.
import type { Client } from "#client/client.ts"
import type { Open } from "#edge/tui/question/panel.ts"
import { reviewTrust, untrustedNotice } from "#edge/tui/question/review-trust.ts"
import { beginWithModel, signIn } from "#edge/tui/question/sign-in.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import type { Conversation } from "./conversation.ts"
import type { TuiOptions } from "./tui.ts"

type Options = {
  client: Client
  open: Open
  diff(preview: string, view: View): Line[]
  print(lines: Line[]): void
  view(): View
  /** A notice between the messages. */
  say(text: string): void
  changed(): void
  talk: Pick<Conversation, "session" | "waiting" | "choose">
  /** What the person has begun to write. */
  editor: Readonly<{ text: string }>
}

export function createGreeting(options: Options) {
  const { client, say, talk } = options
  const useModel = (model: string) => talk.choose({ model })
  const choosing = { ...options, useModel, mayAsk }

  /** A list would take the keys of somebody who is writing already. The next start asks then. */
  function mayAsk(): boolean {
    return !options.editor.text && !talk.session && !talk.waiting.length
  }

  return Object.freeze({
    /** A model is not asked for if the command line named one, a session or a prompt. */
    async begin(given: Pick<TuiOptions, "session" | "isContinued" | "model" | "text">): Promise<void> {
      const notice = await untrustedNotice(client)
      if (notice) say(notice)
      if (!given.session && !given.isContinued && !given.model && !given.text) await beginWithModel(choosing)
    },
    reviewTrust: () => reviewTrust(options),
    signIn: (provider: string | undefined) => signIn(choosing, provider),
  })
}

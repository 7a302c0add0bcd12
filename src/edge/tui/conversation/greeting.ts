// What the terminal says and asks before the first prompt: files that are not trusted, and which model answers. The same
// review and the same choice come back with /trust and /login.
import { type ReviewOptions, reviewTrust, untrustedNotice } from "#edge/tui/question/review-trust.ts"
import { signIn, useRemembered } from "#edge/tui/question/sign-in.ts"
import type { Conversation } from "./conversation.ts"
import type { TuiOptions } from "./options.ts"

type Options = ReviewOptions & {
  /** A notice between the messages. */
  say(text: string): void
  talk: Pick<Conversation, "session" | "waiting" | "choose">
  /** What the person has begun to write. */
  editor: Readonly<{ text: string }>
}

export function createGreeting(options: Options) {
  const { client, say, talk } = options
  const useModel = (model: string) => talk.choose({ model })
  const choosing = { ...options, useModel }
  let isNeeded = false

  /** A list would take the keys of somebody who is writing already. The next start asks then. */
  function mayAsk(): boolean {
    return !options.editor.text && !talk.session && !talk.waiting.length
  }

  return Object.freeze({
    /** Before the first prompt. A model or a session that the command line names comes before the remembered model. */
    async findModel(given: Pick<TuiOptions, "session" | "isContinued" | "model">): Promise<void> {
      if (!given.session && !given.isContinued && !given.model) isNeeded = await useRemembered(choosing)
    },
    /** Who gave a prompt is not asked for a model. */
    async begin({ text }: Pick<TuiOptions, "text">): Promise<void> {
      const notice = await untrustedNotice(client)
      if (notice) say(notice)
      if (isNeeded && !text && mayAsk()) await signIn(choosing)
    },
    reviewTrust: () => reviewTrust(options),
    signIn: (provider: string | undefined) => signIn(choosing, provider),
  })
}

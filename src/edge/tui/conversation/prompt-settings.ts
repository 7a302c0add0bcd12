// What a prompt is sent with beside its text.
import type { Client } from "#client/client.ts"

export type Attachment = NonNullable<Parameters<Client["promptSession"]>[0]["parts"]>[number]

/** What the person sent. */
export type Sent = { text: string; parts: Attachment[] }

/** Settings that the command line gave for every prompt. */
export type PromptSettings = {
  allow?: string[]
  deny?: string[]
  asks?: "once"
  maxSteps?: number
  maxCost?: number
  timeout?: number
}

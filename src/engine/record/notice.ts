// Something about a prompt, its attachments or its answer that a person should know.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import { about } from "#util/about.ts"

export const Notice = Bus.define(
  "session.notice",
  z.object({
    sessionId: z.string(),
    messageId: z.string(),
    text: about("What the person should know.", z.string()),
  }),
  { when: "Something about a prompt, its attachments or its answer needs a person's attention." },
)

export const Retry = Bus.define(
  "session.retry",
  z.object({
    sessionId: z.string(),
    provider: about("Provider that failed.", z.string()),
    reason: z.string().describe("status and words of the provider, in short"),
    wait: z.number().describe("milliseconds until the next try"),
    attempt: z.number().int().describe("the number of the next try"),
    attempts: z.number().int().describe("how many tries there are at most"),
  }),
  { when: "A request to a provider failed, and is tried again after a wait." },
)

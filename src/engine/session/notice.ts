// Something about a prompt, its attachments or its answer that a person should know.
import { z } from "zod"
import * as Bus from "#kernel/bus.ts"

export const Notice = Bus.define(
  "session.notice",
  z.object({ sessionId: z.string(), messageId: z.string(), text: z.string() }),
)

/** A request to a provider failed and is tried again after a wait. */
export const Retry = Bus.define(
  "session.retry",
  z.object({
    sessionId: z.string(),
    provider: z.string(),
    reason: z.string().describe("status and words of the provider, in short"),
    wait: z.number().describe("milliseconds until the next try"),
    attempt: z.number().int().describe("the number of the next try"),
    attempts: z.number().int().describe("how many tries there are at most"),
  }),
)

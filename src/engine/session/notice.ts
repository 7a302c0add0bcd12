// Something about a prompt, its attachments or its answer that a person should know.
import { z } from "zod"
import * as Bus from "#kernel/bus.ts"

export const Notice = Bus.define(
  "session.notice",
  z.object({ sessionId: z.string(), messageId: z.string(), text: z.string() }),
)

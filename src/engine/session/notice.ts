// Something about an attachment, or about what a prompt calls for, that a person should know.
import { z } from "zod"
import * as Bus from "#kernel/bus.ts"

export const Notice = Bus.define(
  "session.notice",
  z.object({ sessionId: z.string(), messageId: z.string(), text: z.string() }),
)

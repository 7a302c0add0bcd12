// The events for things that a person should know about a prompt: notices, actions that guards blocked, retries, and the
// choice of its agent.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import { about } from "#util/about.ts"

export const Notice = Bus.define(
  "session.notice",
  z.object({
    sessionId: z.string(),
    messageId: z.string(),
    callId: about("Running call that it is about.", z.string().optional()),
    text: about("What the person should know.", z.string()),
  }),
  { when: "Something about a prompt, its attachments or its answer needs a person's attention." },
)

export const Blocked = Bus.define(
  "guard.blocked",
  z.object({
    sessionId: z.string(),
    messageId: about("Message of the call or of the answer.", z.string()),
    callId: about("Call that was blocked.", z.string().optional()),
    action: about("Tool that was called, `answer`, or `mode`.", z.string()),
    guard: about("Guard that blocked it.", z.string()),
    reason: about("Why, and what would end the block.", z.string()),
  }),
  { when: "A guard blocked a call, the final answer or a change of the mode." },
)

export const Retry = Bus.define(
  "session.retry",
  z.object({
    sessionId: z.string(),
    provider: about("Provider that failed.", z.string()),
    reason: about("Status and message of the provider, shortened.", z.string()),
    wait: about("Milliseconds until the next attempt.", z.number()),
    attempt: about("Number of the next attempt.", z.number().int()),
    attempts: about("Highest number of attempts.", z.number().int()),
  }),
  { when: "A request to a provider failed and will be retried." },
)

export const AgentChosen = Bus.define(
  "agent.chosen",
  z.object({
    sessionId: z.string(),
    agent: about("The chosen agent.", z.string()),
    score: about("How well it fits; 0 for the default.", z.number()),
    reasons: about("Why.", z.array(z.string())),
    text: about("The choice in words, for people.", z.string()),
  }),
  { when: "The agent `auto` chose the agent of a prompt." },
)

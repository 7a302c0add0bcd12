// A tool that needs a permission, the questions about it, and what the messages of a session say about its calls.
import { z } from "zod"
import * as Permission from "#ability/permission/permission.ts"
import * as Tool from "#ability/tool/tool.ts"
import type * as Message from "#knowledge/message/message.ts"
import { call } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { resultsOf, type World } from "./harness.ts"

/** A tool that needs the given permission, and records its runs. */
export function needy(options: { readOnly?: boolean; permission?: string } = {}): string[] {
  const ran: string[] = []
  const { permission = "network.fetch" } = options
  Tool.define("needy", () => ({
    description: "A tool of a test.",
    parameters: z.object({ target: z.string() }),
    readOnly: options.readOnly ?? false,
    permission: ({ target }) => [{ permission, target }],
    async execute({ target }, { granted }) {
      ran.push(target)
      return `ran ${target}${granted?.length ? ` with ${granted}` : ""}`
    },
  }))
  return ran
}

export const use = (target: string) => call("needy", { target })

/** Waits for this many open questions. */
export async function next(count = 1): Promise<Permission.Request[]> {
  await until(() => Permission.pending().length === count, `${count} questions`)
  return Permission.pending()
}

/** The approval of each call. */
export const approvals = (messages: Message.Info[]) =>
  messages.flatMap((message) =>
    message.type === "tool_request" ? message.data.calls.map(({ approval }) => approval) : [],
  )

export const outputs = (messages: Message.Info[]) => resultsOf(messages).map(({ output }) => String(output))

/** The events about the message of the calls, in order. */
export const written = (events: World["events"]) =>
  events.flatMap(({ type, payload }) => {
    const { message } = payload as { message?: Message.Info }
    return message?.type === "tool_request" ? [`${type} ${approvals([message])}`] : []
  })

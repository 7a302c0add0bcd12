// A tool that needs a permission, and the questions about it.
import { z } from "zod"
import * as Permission from "#ability/permission/permission.ts"
import * as Tool from "#ability/tool/tool.ts"
import { call } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"

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

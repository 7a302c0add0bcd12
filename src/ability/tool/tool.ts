// Defines tools: `Tool.define("read", () => ({ description, parameters, execute }))`. A tool that is defined inside
// an Instance belongs to it; outside, it belongs to every later Instance.

import { z } from "zod"
import type { Category, Context, Definition, Json, Need, Output } from "#ability/call/types.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import * as ToolRegistry from "./tool-registry.ts"

export type * from "#ability/call/types.ts"

/** What a factory returns; the arguments have the type of the schema. */
export type Plan<P extends z.ZodType> = {
  description: string
  category?: Category
  parameters: P
  readOnly?: boolean
  onlyNamed?: boolean
  permission?(args: z.output<P>): Need[]
  preview?(args: z.output<P>): string
  execute(args: z.output<P>, context: Context): Promise<Output | Json>
}

export const Started = Bus.define(
  "tool.started",
  z.object({ sessionId: z.string(), messageId: z.string(), callId: z.string() }),
  {
    live: true,
    when: "A call was allowed and runs now. `message.created` of its message may come later.",
  },
)

export const Progress = Bus.define(
  "tool.progress",
  z.object({
    sessionId: z.string(),
    callId: z.string(),
    text: about("What the call printed since the last `tool.progress`.", z.string()),
  }),
  {
    live: true,
    when: "A running call reports its progress, or a command of the person: its `callId` begins with `shell_`, and its first text is the command.",
  },
)

export class InvalidId extends NamedError {
  constructor(id: string) {
    super(
      "Tool.InvalidId",
      `Tool id ${JSON.stringify(id)} cannot be used: models accept letters, digits, "_" and "-", at most 64`,
      { id },
    )
  }
}

/** Create a tool and register it. */
export function define<P extends z.ZodType>(id: string, factory: () => Plan<P>): Definition {
  if (!/^[\w-]{1,64}$/.test(id)) throw new InvalidId(id)
  const definition = Object.freeze({ category: "utility", readOnly: false, ...factory(), id } as const)
  ToolRegistry.register(definition)
  return definition
}

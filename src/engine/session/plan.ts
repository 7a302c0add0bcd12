// The plan of a session for clients: relations, each with its parents.
import { z } from "zod"
import type { RelationNode } from "#knowledge/relation/relation-node.ts"

const Status = z.enum(["pending", "in_progress", "done", "failed"])

export const Relation = z.object({
  id: z.string(),
  parents: z.array(z.string()).describe("what it is a part of, then what it waits for"),
  edgeType: z.string().describe("plan, step, file, or agent for a session"),
  context: z.looseObject({ description: z.string(), status: Status.optional() }),
  createdAt: z.number(),
}) as unknown as z.ZodType<RelationNode>

export const Plan = z.object({ sessionId: z.string(), nodes: z.array(Relation) })
export type Plan = z.infer<typeof Plan>

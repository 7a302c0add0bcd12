// Routes for the changes of a session: show, undo and redo them.
import { z } from "zod"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { FileChanges, Reverted } from "#edge/server/http/schemas.ts"
import * as Session from "#engine/session/session.ts"

const Id = z.object({ id: z.string() })
const Restoring = z.object({
  force: z.boolean().optional().describe("also restore files that others have changed since"),
  preview: z.boolean().optional().describe("only report what would be done"),
})

export function undoRoutes(): Route[] {
  return [
    defineRoute({
      id: "getDiff",
      method: "GET",
      path: "/session/:id/diff",
      summary: "The changes of a session and its tasks as a unified diff.",
      params: Id,
      query: z.object({ since: z.string().optional().describe("only changes since this message") }),
      response: FileChanges,
      errors: [404],
      handle: ({ params, query: { since } }) => Session.diff(params.id, { since }),
    }),
    defineRoute({
      id: "revertSession",
      method: "POST",
      path: "/session/:id/revert",
      summary: "Undo a message and everything after it, in the files and in the conversation.",
      params: Id,
      body: Restoring.extend({ messageId: z.string() }),
      response: Reverted,
      errors: [404, 409],
      handle: ({ params, body: { messageId, ...options } }) => Session.revert(params.id, messageId, options),
    }),
    defineRoute({
      id: "redoSession",
      method: "POST",
      path: "/session/:id/redo",
      summary:
        "Redo what the last revert undid; several are redone one after the other. Answers 409 if there is nothing to redo: a prompt after a revert ends that.",
      params: Id,
      body: Restoring,
      response: Reverted,
      errors: [404, 409],
      handle: ({ params, body }) => Session.redo(params.id, body),
    }),
  ]
}

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
      role: "reader",
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
      role: "member",
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
      role: "member",
      path: "/session/:id/redo",
      summary:
        "Redo what the last revert undid; several are redone one after the other. Answers 409 if there is nothing to redo: a prompt after a revert ends that.",
      params: Id,
      body: Restoring,
      response: Reverted,
      errors: [404, 409],
      handle: ({ params, body }) => Session.redo(params.id, body),
    }),
    defineRoute({
      id: "pushSession",
      method: "POST",
      role: "member",
      path: "/session/:id/push",
      summary:
        "Push what a session of a git project made to a branch, with the git credentials of the server and never by force; or return it as a patch.",
      params: Id,
      body: z.object({
        branch: z.string().min(1).max(200).optional().describe("default: vitamin/SESSION"),
        isDefaultAllowed: z.boolean().optional().describe("whether it may be the default branch"),
        patch: z.boolean().optional().describe("push nothing, and return a patch"),
      }),
      response: z.object({
        branch: z.string().optional().describe("the branch that was pushed to"),
        commit: z.string().optional().describe("its new commit"),
        patch: z.string().optional().describe("in the form of `git diff`"),
      }),
      errors: [404, 409],
      handle: ({ params, body }) => Session.push(params.id, body),
    }),
  ]
}

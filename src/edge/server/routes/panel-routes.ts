// Routes for people who look at a session later: what guards blocked in it, and the stories that it ran.
import { z } from "zod"
import { StoredStory } from "#ability/world/story-result.ts"
import { maxTimeline } from "#client/guard-timeline.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import * as Session from "#engine/session/session.ts"
import { replayGuards } from "#engine/symbolic/replay-guards.ts"

const Id = z.object({ id: z.string() })

export function panelRoutes(): Route[] {
  return [
    defineRoute({
      id: "listGuardEvents",
      method: "GET",
      role: "reader",
      path: "/session/:id/guard",
      summary: `The events of a session that guards saw, and what they blocked, the oldest first: at most the last ${maxTimeline}.`,
      params: Id,
      response: z.object({
        total: z.number().int().describe("of all events, also those that are not listed"),
        events: z.array(
          z.object({
            time: z.number(),
            event: z.string().describe("the tool, `answer` or `mode`, and its target"),
            isAction: z.boolean().describe("whether a guard can block it"),
            blocked: z
              .array(z.object({ guard: z.string(), reason: z.string() }))
              .describe("the guards that blocked it, and why"),
          }),
        ),
      }),
      errors: [404],
      async handle({ params }) {
        const events = replayGuards(await Session.messages(params.id))
        return {
          total: events.length,
          events: events
            .slice(-maxTimeline)
            .map(({ blocked, ...event }) => ({ ...event, blocked: [...blocked] })),
        }
      },
    }),
    defineRoute({
      id: "listStories",
      method: "GET",
      role: "reader",
      path: "/session/:id/story",
      summary: "The stories that a session ran with `world_run`, the oldest first: at most the last 200.",
      params: Id,
      response: z.array(StoredStory),
      errors: [404],
      async handle({ params }) {
        await Session.get(params.id)
        const { listStories } = await import("#ability/world/stored-stories.ts")
        return listStories(params.id)
      },
    }),
    defineRoute({
      id: "getStoryPicture",
      method: "GET",
      role: "reader",
      path: "/session/:id/story/:callId/:number",
      summary: "The page after a story, as a PNG file of at most 5 MB.",
      params: Id.extend({ callId: z.string(), number: z.string() }),
      response: z.object({
        mimeType: z.literal("image/png"),
        data: z.string().describe("the bytes in base64"),
      }),
      errors: [404],
      async handle({ params: { id, ...story } }) {
        await Session.get(id)
        const { readPicture } = await import("#ability/world/stored-stories.ts")
        return { mimeType: "image/png" as const, data: (await readPicture(id, story)).toString("base64") }
      },
    }),
  ]
}

// Routes for schedules: prompts that run again and again. A person sees and changes their own, an admin all.
import { z } from "zod"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Removed } from "#edge/server/http/schemas.ts"
import * as Schedule from "#engine/schedule/schedule.ts"
import { checkAnswerer } from "#engine/session/settings.ts"
import { Instance } from "#kernel/instance.ts"

const Id = z.object({ id: z.string() })

export function scheduleRoutes(schedules: Schedule.Schedules | undefined): Route[] {
  const needed = () => {
    if (!schedules) throw new Schedule.NoDatabase()
    return schedules
  }
  return [
    defineRoute({
      id: "listSchedules",
      method: "GET",
      role: "reader",
      path: "/schedule",
      summary:
        "Your schedules, an admin's answer has those of everybody: when each runs next, and how its last run ended.",
      response: z.array(Schedule.Info),
      instance: false,
      errors: [501],
      handle: () => needed().list(),
    }),
    defineRoute({
      id: "createSchedule",
      method: "POST",
      role: "member",
      path: "/schedule",
      summary:
        "Run a prompt at the times of a cron expression, each time in a new session of this folder or project, on behalf of the person who asks. Nobody is asked for permission: what no rule allows is denied.",
      body: Schedule.Settings,
      response: Schedule.Info,
      errors: [404, 409, 501],
      async handle({ body }) {
        const own = needed()
        await checkAnswerer(body)
        // The runs get checkouts of their own.
        return own.add(body, Instance.project.place?.replace(/#.*/, "") ?? Instance.directory)
      },
    }),
    defineRoute({
      id: "updateSchedule",
      method: "PATCH",
      role: "member",
      path: "/schedule/:id",
      summary:
        "Pause a schedule, or let it run again. Times that pass while it is paused are not made up for.",
      params: Id,
      body: z.object({ paused: z.boolean() }),
      response: Schedule.Info,
      instance: false,
      errors: [404, 501],
      handle: ({ params, body }) => needed().setPaused(params.id, body.paused),
    }),
    defineRoute({
      id: "removeSchedule",
      method: "DELETE",
      role: "member",
      path: "/schedule/:id",
      summary: "Remove a schedule. A run that has begun goes on, and the sessions stay.",
      params: Id,
      response: Removed,
      instance: false,
      errors: [404, 501],
      async handle({ params }) {
        await needed().remove(params.id)
        return { removed: true as const }
      },
    }),
  ]
}

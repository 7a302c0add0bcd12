// The route for settings: each value in force, with the layer that it comes from.
import { z } from "zod"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import * as Config from "#kernel/config/config.ts"
import { about } from "#util/about.ts"

export function settingRoutes(): Route[] {
  return [
    defineRoute({
      id: "listSettings",
      method: "GET",
      role: "member",
      path: "/setting",
      summary:
        "The settings in force in the request's directory, each with the layer that it comes from. Secrets are redacted.",
      response: z.object({
        settings: z.array(
          z.object({
            key: about('Key path, such as `provider["my.id"].baseURL`.', z.string()),
            value: z.unknown(),
            source: about("Layer that set it.", z.string()),
          }),
        ),
        layers: about(
          "Places that are read; a later one wins.",
          z.array(z.object({ source: z.string(), path: z.string().optional(), status: z.string() })),
        ),
        ignored: about(
          "Values that have no effect.",
          z.array(z.object({ source: z.string(), key: z.string(), reason: z.string() })),
        ),
        warnings: z.array(z.string()),
      }),
      async handle() {
        const inspection = await Config.current()
        const { layers, ignored, warnings } = inspection
        return { settings: Config.listSettings(inspection), layers, ignored, warnings }
      },
    }),
  ]
}

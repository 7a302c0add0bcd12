// The OpenAPI 3.1 document, made from the declared routes and the event types that are known at the time.
import { z } from "zod"
import * as Bus from "#kernel/bus.ts"
import type { Route } from "./route.ts"
import { statuses } from "./statuses.ts"

type Schema = Record<string, unknown>

const always = statuses.filter((row) => row.always).map(({ status }) => status)

export function describeRoutes(routes: readonly Route[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) }
  }
  return {
    openapi: "3.1.0",
    info: { title: "vitamin", version },
    paths,
    components: {
      schemas: {
        Error: schemaOf(
          z.object({
            error: z.object({
              name: z.string(),
              message: z.string(),
              data: z.record(z.string(), z.unknown()).optional(),
            }),
          }),
        ),
        Event: { oneOf: Bus.list().map(describeEvent) },
      },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: "vitamin_token" },
      },
    },
    security: [{ bearer: [] }, { cookie: [] }],
  }
}

function describeRoute(route: Route): Record<string, unknown> {
  const type = route.contentType ?? "application/json"
  const schema = type === "application/json" ? schemaOf(route.response) : { type: "string" }
  const body = route.body && { "application/json": { schema: schemaOf(route.body, "input") } }
  return {
    summary: route.summary,
    parameters: [
      ...describeParameters(route.params, "path"),
      ...describeParameters(route.query, "query"),
      ...describeHeaders(route),
    ],
    ...(body ? { requestBody: { required: true, content: body } } : {}),
    responses: {
      200: { description: "Done", content: { [type]: { schema } } },
      ...Object.fromEntries(
        [...always, ...(route.errors ?? [])].map((status) => [status, describeError(status)]),
      ),
    },
    ...(route.open ? { security: [] } : {}),
  }
}

function describeParameters(schema: z.ZodType | undefined, place: "path" | "query"): Schema[] {
  if (!schema) return []
  const { properties = {}, required = [] } = schemaOf(schema, "input") as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    schema: property,
  }))
}

function describeHeaders(route: Route): Schema[] {
  const header = (name: string, description: string) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  })
  const events = route.contentType === "text/event-stream"
  return [
    ...(route.instance !== false || events
      ? [header("x-vitamin-directory", "The folder that the request is about: an absolute path")]
      : []),
    ...(events ? [header("last-event-id", "Send everything after this id first")] : []),
  ]
}

function describeError(status: number) {
  const schema = { $ref: "#/components/schemas/Error" }
  const description = statuses.find((row) => row.status === status)?.meaning ?? "Refused"
  return { description, content: { "application/json": { schema } } }
}

function describeEvent({ type, schema, live }: Bus.Definition): Schema {
  return {
    type: "object",
    description: live ? `${type}, live only: no id, never replayed` : type,
    properties: {
      ...(live ? {} : { id: { type: "integer" } }),
      type: { const: type },
      time: { type: "integer" },
      directory: { type: "string" },
      payload: schemaOf(schema),
    },
    required: [...(live ? [] : ["id"]), "type", "time", "directory", "payload"],
  }
}

function schemaOf(schema: z.ZodType, io: "input" | "output" = "output"): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" })
  return rest
}

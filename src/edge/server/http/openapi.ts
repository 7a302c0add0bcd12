// Generates the OpenAPI 3.1 document from the declared routes and the event types that are defined so far.
import { STATUS_CODES } from "node:http"
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import type { Route } from "./route.ts"
import { Failure, named, pascal } from "./schemas.ts"
import { statuses, statusesOf } from "./statuses.ts"

type Schema = Record<string, unknown>
type SchemaOf = ReturnType<typeof createSchemas>["schemaOf"]

const directory = {
  name: "x-vitamin-directory",
  in: "header",
  required: false,
  description: "The folder that the request is about: an absolute path",
  schema: { type: "string" },
}

const gap = {
  type: "object",
  description: "Events are missing: those between `after` and `from` are no longer stored",
  properties: {
    type: { const: "gap" },
    after: { type: ["integer", "string"], description: "the cursor that the client sent" },
    from: { type: "integer", description: "the id of the next event" },
  },
  required: ["type", "after", "from"],
}

export function describeRoutes(routes: readonly Route[], about: { version: string; url: string }): Schema {
  const { components, schemaOf } = createSchemas()
  const paths: Record<string, Schema> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route, schemaOf) }
  }
  const responses = statuses
    .filter(({ status }) => routes.some((route) => statusesOf(route).includes(status)))
    .map(({ status, meaning }) => [
      responseName(status),
      { description: meaning, content: json(schemaOf(Failure)) },
    ])
  const events = Bus.list().map((event) => [eventName(event), describeEvent(event, schemaOf)])
  return {
    openapi: "3.1.0",
    info: {
      title: "vitamin",
      version: about.version,
      description:
        "Sessions of a coding agent: prompts, messages, permissions, and every event as it happens.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: about.url }],
    paths,
    components: {
      schemas: { ...components, Event: describeEvents(), ...Object.fromEntries(events), GapEvent: gap },
      responses: Object.fromEntries(responses),
      parameters: { directory },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: "vitamin_token" },
      },
    },
  }
}

function describeRoute(route: Route, schemaOf: SchemaOf): Schema {
  const { contentType = "application/json", accepted, instance = true, role } = route
  const schema =
    contentType === "text/event-stream" ? { $ref: "#/components/schemas/Event" } : schemaOf(route.response)
  const errors = statusesOf(route).map((status) => [
    status,
    { $ref: `#/components/responses/${responseName(status)}` },
  ])
  return {
    operationId: route.id,
    summary: route.summary,
    parameters: [
      ...describeParameters(route.params && schemaOf(route.params, "input"), "path"),
      ...describeParameters(route.query && schemaOf(route.query, "input"), "query"),
      ...describeParameters(route.headers && schemaOf(route.headers, "input"), "header"),
      ...(instance ? [{ $ref: "#/components/parameters/directory" }] : []),
    ],
    ...(route.body ? { requestBody: { required: true, content: json(schemaOf(route.body, "input")) } } : {}),
    responses: {
      200: { description: "Done", content: { [contentType]: { schema } } },
      ...(accepted ? { 202: { description: "Accepted", content: json(schemaOf(accepted)) } } : {}),
      ...Object.fromEntries(errors),
    },
    // OpenAPI 3.1 lists the needed roles here.
    security: role === "open" ? [] : [{ bearer: [role] }, { cookie: [role] }],
  }
}

function describeParameters(schema: Schema | undefined, place: "path" | "query" | "header"): Schema[] {
  const { properties = {}, required = [] } = (schema ?? {}) as z.core.JSONSchema.ObjectSchema
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property as Schema
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

function describeEvents(): Schema {
  const refs = [...Bus.list().map(({ type }) => type), "gap"].map((type) => [
    type,
    `#/components/schemas/${eventName({ type })}`,
  ])
  return {
    description: "The JSON in the `data:` field of each event of the stream",
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: "type", mapping: Object.fromEntries(refs) },
  }
}

function describeEvent({ type, schema, live }: Bus.Definition, schemaOf: SchemaOf): Schema {
  return {
    type: "object",
    ...(live ? { description: "Live only: no id, never replayed" } : {}),
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

function eventName({ type }: { type: string }): string {
  return `${pascal(type)}Event`
}

/** The name of a status: `NotFound` for 404. */
function responseName(status: number): string {
  return (STATUS_CODES[status] ?? String(status)).replace(/\W/g, "")
}

function json(schema: Schema): Schema {
  return { "application/json": { schema } }
}

/** `schemaOf` converts a Zod schema into JSON Schema. Named schemas are described once, in `components`, and referenced
 * everywhere else. */
function createSchemas() {
  // Keyed by `_zod`: in the bundle, a declared schema and the one that Zod creates are two objects (`lazy-zod.ts`).
  const names = new Map<object, string>(Object.entries(named).map(([name, schema]) => [schema._zod, name]))
  const components: Record<string, Schema> = {}
  return Object.freeze({ components, schemaOf })

  function schemaOf(schema: z.ZodType, io: "input" | "output" = "output"): Schema {
    const name = names.get(schema._zod)
    return name === undefined ? convert(schema, io) : refer(name, io)
  }

  function refer(name: string, io: "input" | "output"): Schema {
    if (!components[name]) {
      // Reserve the name before converting, since a schema may refer to itself.
      components[name] = {}
      components[name] = convert(named[name]!, io)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  function convert(schema: z.ZodType, io: "input" | "output"): Schema {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, {
      io,
      unrepresentable: "any",
      override({ zodSchema, jsonSchema }) {
        const name = names.get(zodSchema._zod)
        if (name === undefined || named[name]!._zod === schema._zod) return
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
        Object.assign(jsonSchema, refer(name, io))
      },
    })
    return rest
  }
}

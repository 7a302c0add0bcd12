// JSON Schemas for the OpenAPI document. A schema that has a name is described once, among the components, and every
// other place refers to it.
import { z } from "zod"
import { named } from "./schemas.ts"

export type Schema = Record<string, unknown>

/** `schemaOf` gives the JSON Schema of a Zod schema; `components` are the named ones that it met so far. */
export function createSchemas() {
  // By their insides: in the bundle a schema and what Zod makes of it are two objects (`lazy-zod.ts`).
  const names = new Map<object, string>(Object.entries(named).map(([name, schema]) => [schema._zod, name]))
  const components: Record<string, Schema> = {}
  return Object.freeze({ components, schemaOf })

  function schemaOf(schema: z.ZodType, io: "input" | "output" = "output"): Schema {
    const name = names.get(schema._zod)
    return name === undefined ? convert(schema, io) : refer(name, io)
  }

  function refer(name: string, io: "input" | "output"): Schema {
    if (!components[name]) {
      // Held before it is converted, since a schema may refer to itself.
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

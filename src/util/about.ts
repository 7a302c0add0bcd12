// The description of a schema, for the references in `docs` and the OpenAPI document. It is registered, because
// `.describe()` would copy the whole schema, 4 to 7 µs each at every start.
import { z } from "zod"

/** `fallback`: the default, if the code that reads the key applies it, not the schema. */
export function about<T extends z.ZodType>(description: string, schema: T, fallback?: unknown): T {
  z.globalRegistry.add(schema, { description, ...(fallback === undefined ? {} : { default: fallback }) })
  return schema
}

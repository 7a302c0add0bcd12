// Creates a fast check from a schema: whether a JSON value is already, field for field and in order, what the schema
// would return. It says yes only if that is certain; unknown kinds of schema, and values that a schema would fill in, drop
// or refuse, are left to the schema itself.
import type { z } from "zod"
import { isObject } from "./schema.ts"

type Schema = z.core.$ZodType
type Fit = (value: unknown) => boolean

export function createFit(schema: Schema): Fit {
  const { def } = (schema as z.core.$ZodTypes)._zod
  // Rules beyond the type.
  if (def.checks?.length) return unsure
  switch (def.type) {
    case "string":
      return isPlain(def) ? (value) => typeof value === "string" : unsure
    case "number":
      return isPlain(def) ? Number.isFinite : unsure
    case "boolean":
      return isPlain(def) ? (value) => typeof value === "boolean" : unsure
    case "literal":
    case "enum":
      return oneOf(schema)
    case "custom":
      return (value) => def.fn(value) === true
    case "nullable":
      return orNull(createFit(def.innerType))
    case "optional":
    case "default":
      return orElse(createFit(def.innerType))
    case "array":
      return listOf(createFit(def.element))
    case "object":
      return objectOf(def)
    case "union":
      return anyOf(def)
    default:
      return unsure
  }
}

const unsure: Fit = () => false

/** False for a schema that converts its input or checks a format. */
function isPlain(def: object): boolean {
  return !("coerce" in def && def.coerce) && !("check" in def)
}

function oneOf({ _zod: { values } }: Schema): Fit {
  return values ? (value) => (values as Set<unknown>).has(value) : unsure
}

function orNull(fits: Fit): Fit {
  return (value) => value === null || fits(value)
}

/** The schema may fill in a missing value. */
function orElse(fits: Fit): Fit {
  return (value) => value !== undefined && fits(value)
}

function listOf(fits: Fit): Fit {
  return (value) => {
    if (!Array.isArray(value)) return false
    for (const item of value) if (!fits(item)) return false
    return true
  }
}

/** The schema gives the fields in its own order, and none besides. */
function objectOf({ shape }: z.core.$ZodObjectDef): Fit {
  const fields = Object.entries(shape).map(([name, schema]) => ({
    name,
    fits: createFit(schema),
    mayMiss: (schema as z.core.$ZodTypes)._zod.def.type === "optional",
  }))
  return (value) => {
    if (!isObject(value)) return false
    let next = 0
    for (const name in value) {
      while (next < fields.length && fields[next]!.name !== name) if (!fields[next++]!.mayMiss) return false
      if (next === fields.length || !fields[next++]!.fits(value[name])) return false
    }
    while (next < fields.length) if (!fields[next++]!.mayMiss) return false
    return true
  }
}

function anyOf(def: z.core.$ZodUnionDef | z.core.$ZodDiscriminatedUnionDef): Fit {
  if (!("discriminator" in def)) return unsure
  const { discriminator, options } = def
  const fits = new Map<unknown, Fit>()
  for (const option of options) {
    const fit = createFit(option)
    for (const value of option._zod.propValues?.[discriminator] ?? []) fits.set(value, fit)
  }
  return (value) => isObject(value) && (fits.get(value[discriminator])?.(value) ?? false)
}

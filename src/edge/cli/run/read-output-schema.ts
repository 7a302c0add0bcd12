// `--output-schema FILE`: reads the JSON Schema and refuses one that cannot be used, before a model is asked.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { UsageError } from "#edge/cli/process/exit.ts"
import { checkSchema, maxSchema } from "#engine/run/output-schema.ts"
import type { OutputSchema } from "#engine/run/run.ts"
import { errorText } from "#util/error.ts"
import { isTooDeep } from "#util/parse/is-too-deep.ts"

/** Blanks do not count for the limit of the schema itself. */
const maxBytes = 4 * maxSchema

export function readOutputSchema(file: string): OutputSchema {
  try {
    const text = readText(resolve(file))
    if (isTooDeep(text)) throw new Error("it is nested deeper than 100 levels")
    const schema: OutputSchema = JSON.parse(text)
    checkSchema(schema)
    return schema
  } catch (error) {
    throw new UsageError(`--output-schema ${file}: ${errorText(error)}`)
  }
}

/** A pipe or a device could hang or never end. */
function readText(file: string): string {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(handle)
    if (!stat.isFile()) throw new Error("it is not a file")
    if (stat.size > maxBytes) throw new Error(`it has ${stat.size} bytes, and ${maxBytes} are the most`)
    return readFileSync(handle, "utf8").replace(/^\uFEFF/, "")
  } finally {
    closeSync(handle)
  }
}

// Writes the descriptions of the built-in tools and the instructions of the specialists, which are `.md` files, into modules:
// a bundle has no files beside it.
// The parameters are written as JSON Schema, the form that models get, so that a start need not compute it.
//   node script/descriptions.ts --write
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { zodToToolSchema } from "#ability/call/zod-to-tool-schema.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"

const folder = join(import.meta.dirname, "../src/ability/tool/builtin")
const specFolder = join(import.meta.dirname, "../src/ability/agent/spec")

const lineWidth = 110
const longName = 5

/** The generated module. */
export const descriptionsFile = join(folder, "descriptions.ts")

export const schemasFile = join(folder, "schemas.json")

export const instructionsFile = join(specFolder, "instructions.ts")

/** The module as the `.md` files make it now. */
export function drawDescriptions(): string {
  return draw("descriptions", folder)
}

export function drawInstructions(): string {
  return draw("instructions", specFolder)
}

function draw(name: string, folder: string): string {
  const entries = globSync("*.md", { cwd: folder })
    .sort()
    .map((file) =>
      entry(basename(file, ".md").replaceAll("-", "_"), readFileSync(join(folder, file), "utf8").trim()),
    )
  return [
    "// Made from the .md files of this folder by script/descriptions.ts --write.",
    `export const ${name} = {`,
    ...entries,
    "} as const",
    "",
  ].join("\n")
}

/** One line for each tool. */
export function drawSchemas(): string {
  const lines = ToolRegistry.list().map(
    ({ id, parameters }) => `  ${JSON.stringify(id)}: ${JSON.stringify(zodToToolSchema(parameters))}`,
  )
  return `{\n${lines.join(",\n")}\n}\n`
}

/** In the style of the formatter: the quote that needs fewer escapes, and a long text on the next line unless the name
 * is short. */
function entry(name: string, text: string): string {
  const json = JSON.stringify(text)
  const doubles = text.split('"').length > text.split("'").length
  const quoted = doubles ? `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'` : json
  const line = `  ${name}: ${quoted},`
  return line.length > lineWidth && name.length >= longName ? `  ${name}:\n    ${quoted},` : line
}

if (import.meta.main && process.argv.includes("--write")) {
  writeFileSync(descriptionsFile, drawDescriptions())
  writeFileSync(schemasFile, drawSchemas())
  writeFileSync(instructionsFile, drawInstructions())
}

// The tools `diagnostics`, `definition`, `references` and `rename`, for agents that name them. They have no routing names, so no
// specialist gets them. Their code, and the servers, are loaded when one is called.
import { z } from "zod"
import type { Definition } from "#ability/call/types.ts"
import { needsWriting } from "#ability/file/open-for-writing.ts"
import { needsReading } from "#ability/file/open-target.ts"

const path = z.string().min(1)
const Place = z.strictObject({ path, line: z.number().int().min(1), symbol: z.string().min(1).max(500) })
const File = z.strictObject({ path })
const Rename = Place.extend({
  newName: z.string().min(1).max(500),
  files: z.array(path).max(500).optional(),
})
export type Place = z.infer<typeof Place>
export type Rename = z.infer<typeof Rename>

const example = { path: "src/port.ts", line: 3, symbol: "defaultPort" }
const placeArguments = {
  path: "File in which the symbol is used or defined.",
  line: "Line with the symbol, from 1.",
  symbol: "Name of the symbol, as it is in that line.",
}
const limits = "30 s. Needs a language server for the file, in a trusted folder."

/** For docs/tools.md; models are not sent it. */
export const lspManuals = {
  diagnostics: {
    example: { path: "src/port.ts" },
    arguments: { path: "File to check." },
    limits: `50 diagnostics. ${limits}`,
  },
  definition: { example, arguments: placeArguments, limits },
  references: { example, arguments: placeArguments, limits: `200 places. ${limits}` },
  rename: {
    example: { ...example, newName: "standardPort", files: ["src/port.ts", "src/server.ts"] },
    arguments: {
      ...placeArguments,
      newName: "New name.",
      files:
        "Files that may be changed beside `path`. If others would change, nothing is done and they are named.",
    },
    limits: `500 files. ${limits}`,
  },
}

export const lspTools: readonly Definition[] = [
  Object.freeze({
    id: "diagnostics",
    description: "Errors and warnings of a file, from its language server.",
    category: "code",
    parameters: File,
    readOnly: true,
    onlyNamed: true,
    permission: (args) => needsReading((args as Place).path),
    execute: async (args, context) => (await import("./symbol-tools.ts")).diagnostics(args as Place, context),
  } satisfies Definition),
  Object.freeze({
    id: "definition",
    description:
      "Where a symbol is defined, from the language server. Name the symbol and a line that has it.",
    category: "code",
    parameters: Place,
    readOnly: true,
    onlyNamed: true,
    permission: (args) => needsReading((args as Place).path),
    execute: async (args, context) => (await import("./symbol-tools.ts")).definition(args as Place, context),
  } satisfies Definition),
  Object.freeze({
    id: "references",
    description: "Every use of a symbol, from the language server. Name the symbol and a line that has it.",
    category: "code",
    parameters: Place,
    readOnly: true,
    onlyNamed: true,
    permission: (args) => needsReading((args as Place).path),
    execute: async (args, context) => (await import("./symbol-tools.ts")).references(args as Place, context),
  } satisfies Definition),
  Object.freeze({
    id: "rename",
    description:
      "Rename a symbol everywhere, with the language server. If other files would change, nothing is done and they are named: call it again with them in `files`.",
    category: "code",
    parameters: Rename,
    readOnly: false,
    onlyNamed: true,
    permission(args) {
      const { path, files = [] } = args as Rename
      return [...new Set([path, ...files])].flatMap((one) => needsWriting("file.edit", one))
    },
    execute: async (args, context) => (await import("./rename.ts")).rename(args as Rename, context),
  } satisfies Definition),
]

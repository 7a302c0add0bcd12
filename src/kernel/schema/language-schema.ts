// The schemas of language servers and formatters.
import { z } from "zod"
import { about } from "#util/about.ts"

const Extension = z.string().regex(/^\.[^/\\\s]+$/, 'expected an ending such as ".ts"')
const Environment = z.record(z.string(), z.string())
const Command = z.array(z.string().min(1)).min(1)

const LanguageServer = z.strictObject({
  command: about("Program and arguments. It talks over stdin and stdout.", Command),
  extensions: about(
    'Endings of its files, each with the language id that the server expects: `{ ".zig": "zig" }`.',
    z.record(Extension, z.string().min(1)).refine((map) => Object.keys(map).length > 0, "expected an ending"),
  ),
  env: about("Variables for it, added to your environment without keys.", Environment.optional()),
  root: about(
    "Files that mark the folder it works in: the nearest folder with one of them; without it, the work tree.",
    z.array(z.string().min(1)).optional(),
  ),
  initialization: about("Its `initializationOptions`.", z.record(z.string(), z.unknown()).optional()),
  settings: about(
    "Settings that it asks for (`workspace/configuration`).",
    z.record(z.string(), z.unknown()).optional(),
  ),
})
export type LanguageServer = z.infer<typeof LanguageServer>

export const LanguageServers = z.union([
  z.literal(false),
  z.strictObject({
    wait: about(
      "Milliseconds that an edit waits for new diagnostics; 0 waits for none. Later ones join the next turn.",
      z.number().int().min(0).max(60_000).optional(),
      1_500,
    ),
    servers: about(
      "Servers of your own, by a name of yours; `false` turns a known one off: `typescript`, `python`, `go`, `rust`, `c`, `bash`.",
      z.record(z.string(), z.union([z.literal(false), LanguageServer])).optional(),
    ),
  }),
])

const Formatter = z.strictObject({
  command: about("Program and arguments; `$FILE` stands for the file.", Command).refine(
    (words) => words.some((word) => word.includes("$FILE")),
    'expected "$FILE" among the arguments',
  ),
  extensions: about("Endings of the files that it formats.", z.array(Extension).min(1)),
  env: about("Variables for it, added to your environment without keys.", Environment.optional()),
})

export const Formatters = z.union([
  z.literal(false),
  z.record(z.string(), z.union([z.literal(false), Formatter])),
])

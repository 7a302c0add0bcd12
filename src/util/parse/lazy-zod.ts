// Zod for the bundle: a declaration only records how to create a schema. Zod creates it when it is first needed, which
// for most is never. A start declares some 1 300 schemas; valid values are parsed without Zod (`quick-parse.ts`).
// `script/build.ts` replaces "zod" by this module in our own files; the source itself uses Zod.
import { createRequire } from "node:module"
import type * as Zod from "zod"
import { createQuickParse, type Note, unsure } from "./quick-parse.ts"

type Declared = Note & { made: Zod.ZodType | undefined; about: About[] }
type About = { [name: string]: unknown }

let parts: typeof import("./zod-parts.ts") | undefined
/** Functions of Zod that make a schema. */
const makers = `string number int boolean literal enum unknown custom preprocess array tuple record object strictObject
  looseObject union discriminatedUnion`
/** Methods that give another schema. */
const modifiers = `optional nullable nullish default prefault catch array describe meta refine superRefine check transform
  pipe trim min max length int positive nonnegative regex startsWith strict loose catchall extend partial omit pick`

const notes = new WeakMap<object, Declared>()
const { takeOf, fieldsOf } = createQuickParse((schema) => notes.get(schema), ask)
/** Methods of a schema that Zod has not created yet. */
const methods = new Map<string | symbol, (this: object, ...args: unknown[]) => unknown>(
  modifiers.split(/\s+/).map((name) => [
    name,
    function (...args) {
      return declare(name, args, this)
    },
  ]),
)
methods.set("safeParse", function (value) {
  const data = takeOf(this)(value)
  return data === unsure ? made(this).safeParse(value) : { success: true, data }
})
methods.set("parse", function (value) {
  const data = takeOf(this)(value)
  return data === unsure ? made(this).parse(value) : data
})
methods.set("safeParseAsync", async function (value) {
  const data = takeOf(this)(value)
  return data === unsure ? made(this).safeParseAsync(value) : { success: true, data }
})

const handler: ProxyHandler<Declared> = {
  get(note, name) {
    return methods.get(name) ?? (note.made ? undefined : partOf(note, name)) ?? Reflect.get(make(note), name)
  },
  has: (note, name) => Reflect.has(make(note), name),
  getPrototypeOf: (note) => Reflect.getPrototypeOf(make(note)),
}

export const z = {
  ...Object.fromEntries(
    makers.split(/\s+/).map((name) => [name, (...args: unknown[]) => declare(name, args)]),
  ),
  globalRegistry: { add: describe },
  prettifyError: (error: Zod.ZodError) => zod().prettifyError(error),
  toJSONSchema: (schema: object, options: object) => zod().toJSONSchema(made(schema), options),
  get ZodError() {
    return zod().ZodError
  },
  get ZodObject() {
    return zod().ZodObject
  },
}

/** Zod itself, loaded synchronously, because parsing is synchronous. */
function zod() {
  const here = import.meta.url
  parts ??= createRequire(here)(here.endsWith(".ts") ? "./zod-parts.ts" : "./zod-parts.js")
  return parts!
}

/** The parts of a schema, from its declaration. */
function partOf(note: Note, name: string | symbol): unknown {
  if (name === "shape") return fieldsOf(note)
  if (name === "value" && note.name === "literal") return note.args[0]
  return name === "options" && note.name === "discriminatedUnion" ? note.args[1] : undefined
}

function declare(name: string, args: unknown[], from?: object): object {
  const note: Declared = { name, args, from, made: undefined, about: [] }
  const schema = new Proxy(note, handler)
  notes.set(schema, note)
  return schema
}

function describe(schema: object, about: About): void {
  const note = notes.get(schema)
  if (note && !note.made) note.about.push(about)
  else zod().globalRegistry.add(made(schema), about)
}

/** Zod's own schema. */
function made(schema: object): Zod.ZodType {
  const note = notes.get(schema)
  return note ? make(note) : (schema as Zod.ZodType)
}

function make(note: Declared): Zod.ZodType {
  if (note.made) return note.made
  const owner = (note.from ? made(note.from) : zod()) as unknown as Record<
    string,
    (...args: unknown[]) => Zod.ZodType
  >
  const schema = owner[note.name]!(...note.args.map(withSchemas))
  for (const about of note.about) zod().globalRegistry.add(schema, about)
  note.made = schema
  return schema
}

/** Replaces our schemas by Zod's, also in lists and in the fields of objects. */
function withSchemas(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  if (notes.has(value)) return made(value)
  if (Array.isArray(value)) return value.map(withSchemas)
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withSchemas(item)]))
}

/** `superRefine` may be asynchronous, which only `safeParseAsync` supports. */
function ask(schema: object, value: unknown): unknown {
  if (notes.get(schema)?.name === "superRefine") return unsure
  const { success, data } = made(schema).safeParse(value)
  return success ? data : unsure
}

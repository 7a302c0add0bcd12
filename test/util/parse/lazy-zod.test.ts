// The lazy Zod of the bundle behaves like Zod: the same values, errors and JSON Schemas.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { test } from "node:test"
import { inspect } from "node:util"
import * as Zod from "zod"
import "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Message from "#knowledge/message/message.ts"
import { z as lazy } from "#util/parse/lazy-zod.ts"
import { examples } from "../../../script/messages.ts"
import { repeat } from "../../fixture/soak.ts"
import { createRandom, mutate, randomMessage } from "../../knowledge/message/fixture.ts"

type Z = typeof Zod.z
const lazyZod = lazy as unknown as Z
const { Bus: BuiltBus, Message: BuiltMessage } = await import("../../../dist/index.js" as string)

const values = [
  ...[
    undefined,
    null,
    true,
    0,
    1,
    -1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 60,
    "",
    "a",
    " ab ",
    "a-1",
  ],
  ...[[], ["a"], ["a", 1], [undefined], new Date(0), () => 1, new Map()],
  ...[{}, { a: "x" }, { a: 1 }, { a: undefined }, { a: null }, { a: " y ", b: "z" }, { b: 1, a: "x" }],
  ...[
    { a: ["x"] },
    { a: {} },
    { a: { b: 1, c: 2 } },
    { type: "one", a: "x" },
    { type: "two", b: 1 },
    { type: 3 },
  ],
  ...[
    JSON.parse('{"__proto__":{"a":"x"}}'),
    JSON.parse('{"a":"x","__proto__":1}'),
    Object.create(null),
    { constructor: 1 },
  ],
]

const schemas: Record<string, (z: Z) => Zod.ZodType> = {
  "optional union": (z) =>
    z.object({ a: z.union([z.literal(false), z.object({ b: z.number() })]).optional() }),
  "optional union with a default in it": (z) =>
    z.object({ a: z.union([z.string().default("x"), z.number()]).optional() }),
  string: (z) => z.string(),
  "string of a size": (z) => z.string().min(1).max(2),
  "string of a form": (z) =>
    z
      .string()
      .regex(/^[a-z]/)
      .startsWith("a"),
  "string of a form that remembers": (z) => z.string().regex(/a/g),
  "trimmed string": (z) => z.string().trim().min(1),
  number: (z) => z.number(),
  "bounded number": (z) => z.number().min(0).max(1),
  "whole number": (z) => z.int().positive(),
  "whole number by method": (z) => z.number().int().nonnegative(),
  boolean: (z) => z.boolean(),
  unknown: (z) => z.unknown(),
  literal: (z) => z.literal("a"),
  literals: (z) => z.literal(["a", 1]),
  enum: (z) => z.enum(["a", "b"]),
  custom: (z) => z.custom((value) => value !== undefined),
  "custom, truthy": (z) => z.custom((value) => value),
  nullish: (z) => z.string().nullish(),
  "list with a size": (z) => z.array(z.string()).min(1),
  "list by method": (z) => z.string().nullable().array(),
  record: (z) => z.record(z.string(), z.string()),
  "record of checked keys": (z) => z.record(z.string().min(2), z.unknown()),
  "record of trimmed keys": (z) => z.record(z.string().trim(), z.unknown()),
  "record of known keys": (z) => z.record(z.enum(["a", "b"]), z.unknown()),
  tuple: (z) => z.tuple([z.string(), z.number()]),
  union: (z) => z.union([z.string(), z.object({ a: z.string() })]),
  "union of a list and what may be missing": (z) =>
    z.union([z.string().max(1).nullable().optional(), z.array(z.string()), z.literal([1, 2])]),
  "union of one kind": (z) => z.union([z.object({ a: z.string().trim() }), z.object({ b: z.unknown() })]),
  "union with a default": (z) => z.union([z.string().default("d"), z.number()]),
  "union that changes": (z) => z.union([z.string().transform((a) => a.length), z.looseObject({})]),
  "union of anything": (z) => z.union([z.string(), z.unknown()]),
  object: (z) => z.object({ a: z.string() }),
  "object, all optional": (z) => z.object({ a: z.string().optional(), b: z.number().nullish() }),
  "object, unknown field": (z) => z.object({ a: z.unknown() }),
  "object, custom field": (z) => z.object({ a: z.custom(() => true) }),
  "object with defaults": (z) => z.object({ a: z.string().default("d"), b: z.array(z.string()).default([]) }),
  "object with a default of its own": (z) =>
    z.object({ a: z.object({ b: z.number().default(1) }).prefault({}) }),
  "default that may be null": (z) => z.object({ a: z.string().nullable().default(null) }),
  "default below optional": (z) => z.object({ a: z.string().default("d").optional() }),
  "default below nullable": (z) => z.object({ a: z.string().default("d").nullable().optional() }),
  "nullable over optional": (z) => z.object({ a: z.string().optional().nullable() }),
  "default that is made": (z) => z.object({ a: z.string().default(() => "made") }),
  "fallback for what is wrong": (z) =>
    z.object({ a: z.string().catch("c"), b: z.string().optional().catch(undefined) }),
  "described fields": (z) =>
    z.object({
      a: z
        .string()
        .optional()
        .describe("it")
        .refine((a) => a !== "x"),
    }),
  "refined field, optional": (z) =>
    z.object({
      a: z
        .string()
        .refine((a) => a.length > 0)
        .optional(),
    }),
  "preprocessed field": (z) => z.object({ a: z.preprocess((a) => a ?? "p", z.string()).optional() }),
  "transformed field": (z) =>
    z.object({
      a: z
        .string()
        .transform((a) => a.length)
        .optional(),
    }),
  "strict object": (z) => z.strictObject({ a: z.string().optional() }),
  "strict by method": (z) => z.object({ a: z.string() }).strict(),
  "loose object": (z) => z.looseObject({ a: z.string().optional() }),
  "object with other keys": (z) => z.object({ a: z.string().optional() }).catchall(z.number()),
  "extended object": (z) => z.object({ a: z.string(), b: z.string() }).extend({ b: z.number().optional() }),
  "partial object": (z) => z.object({ a: z.string() }).partial(),
  "refined object": (z) =>
    z.object({ a: z.string() }).refine(({ a }) => a === "x", { error: "not x", path: ["a"] }),
  "object with a rule of many": (z) =>
    z.object({ a: z.string() }).superRefine((value, context) => {
      if (value.a !== "x") context.addIssue({ code: "custom", message: "not x" })
    }),
  "one of several objects": (z) =>
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("one"), a: z.string() }).describe("first"),
      z.strictObject({ type: z.literal("two"), b: z.number() }),
    ]),
}

for (const [name, create] of Object.entries(schemas))
  test(`a schema of the bundle parses as Zod does: ${name}`, async () => {
    const schema = create(lazyZod)
    const own = create(Zod.z)
    for (const value of values) {
      assert.equal(outcome(schema, value), outcome(own, value), inspect(value))
      const later = await schema.safeParseAsync(value)
      assert.equal(inspect(later.data), inspect(own.safeParse(value).data), inspect(value))
    }
    assert.deepEqual(shown(schema, lazyZod), shown(own, Zod.z))
    // Again, now that Zod has created the schema.
    for (const value of values) assert.equal(outcome(schema, value), outcome(own, value), inspect(value))
  })

test("a schema of the bundle returns a copy", () => {
  const schema = lazyZod.object({
    a: lazyZod.array(lazyZod.string()),
    b: lazyZod.array(lazyZod.string()).default(["d"]),
  })
  const value = { a: ["x"] }
  const parsed = schema.parse(value)
  parsed.a.push("y")
  parsed.b.push("y")
  assert.deepEqual(value, { a: ["x"] })
  assert.deepEqual(schema.parse(value), { a: ["x"], b: ["d"] })
})

test("every function of Zod that the source uses is there", () => {
  const files = readdirSync(new URL("../../../src", import.meta.url), {
    recursive: true,
    encoding: "utf8",
  }).filter((path) => path.endsWith(".ts"))
  const used = files.flatMap(
    (path) =>
      readFileSync(new URL(`../../../src/${path}`, import.meta.url), "utf8").match(
        /(?<=\bz\.)[a-z]\w*(?=\()/g,
      ) ?? [],
  )
  assert.deepEqual(
    [...new Set(used)].filter((name) => !(name in lazy)),
    [],
  )
})

test("a registered description is in the JSON Schema, also for a field that is used twice", () => {
  const show = (z: Z) => {
    const name = z.string()
    z.globalRegistry.add(name, { description: "a name" })
    return z.toJSONSchema(z.object({ name, other: name.optional() }))
  }
  assert.deepEqual(show(lazyZod), show(Zod.z))
})

test("an async rule is applied", async () => {
  const schema = lazyZod.object({
    a: lazyZod.string().superRefine(async (a, context) => {
      if (a !== "x") context.addIssue({ code: "custom", message: "not x" })
    }),
  })
  assert.equal((await schema.safeParseAsync({ a: "x" })).success, true)
  assert.equal((await schema.safeParseAsync({ a: "y" })).success, false)
})

test("the built package checks messages as the source does, whole and mutated ones", () => {
  const types = Object.keys(examples) as Message.Type[]
  for (let seed = 1; seed <= repeat(4_000, 200_000); seed++) {
    const random = createRandom(seed)
    const value = JSON.parse(JSON.stringify(randomMessage(types[seed % types.length]!, random)))
    if (random() < 0.7) mutate(value, random)
    assert.equal(outcome(BuiltMessage.Info, value), outcome(Message.Info, value), `seed ${seed}`)
  }
})

test("the built package describes every event as the source does", () => {
  const source = new Map(Bus.list().map(({ type, schema }) => [type, schema]))
  const built: Bus.Definition[] = BuiltBus.list().filter(({ type }: Bus.Definition) => source.has(type))
  assert.ok(built.length > 5, "events that both know")
  for (const { type, schema } of built)
    assert.deepEqual(shown(schema, Zod.z), shown(source.get(type)!, Zod.z), type)
})

function outcome(schema: Zod.ZodType, value: unknown): string {
  const { success, data, error } = schema.safeParse(value)
  return success ? inspect(data, { depth: 20 }) : Zod.prettifyError(error!)
}

function shown(schema: Zod.ZodType, z: Z): unknown {
  try {
    return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })
  } catch (error) {
    return String(error)
  }
}

test("the Zod of the bundle parses or refuses a deeply nested value without recursion into it", () => {
  let deep: unknown = "x"
  for (let depth = 0; depth < 200_000; depth++) deep = depth % 2 ? [deep] : { a: deep }
  const deepSchemas: ((z: Z) => Zod.ZodType)[] = [
    (z) => z.unknown(),
    (z) => z.array(z.unknown()),
    (z) => z.looseObject({ b: z.string().optional() }),
    (z) => z.record(z.string(), z.unknown()),
    (z) => z.custom((value) => value !== undefined),
    (z) => z.string(),
  ]
  for (const value of [deep, [deep], { a: deep }])
    for (const schema of deepSchemas)
      assert.equal(schema(lazyZod).safeParse(value).success, schema(Zod.z).safeParse(value).success)
})

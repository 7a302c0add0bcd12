// The shared objects with their bytes in the database and in a bucket: a real PostgreSQL and a real S3-like server.
import assert from "node:assert/strict"
import { test } from "node:test"
import { open } from "#kernel/database/database.ts"
import { type Bucket, createBucket } from "#kernel/objects/bucket.ts"
import { createObjectTables } from "#kernel/objects/object-tables.ts"
import { noPostgres, tmpDatabase } from "../../fixture/postgres.ts"
import { type TmpBucket, tmpBucket } from "../../fixture/s3.ts"

const real = { skip: noPostgres, timeout: 120_000 }
const bytes = Buffer.from("the same bytes")

/** Settings of a server are variables of its process. */
function withVariables<T>(variables: Record<string, string>, make: () => T): T {
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]))
  Object.assign(process.env, variables)
  try {
    return make()
  } finally {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
}

async function setUp() {
  const database = await tmpDatabase()
  const s3 = await tmpBucket()
  const opened = await open(database.url)
  const made: ReturnType<typeof createObjectTables>[] = []
  const objectsWith = (bucket?: Bucket) => {
    made.push(createObjectTables(opened, bucket))
    return made.at(-1)!
  }
  return {
    ...{ database, s3, objectsWith, bucket: bucketOf(s3) },
    async [Symbol.asyncDispose]() {
      for (const objects of made) await objects.close()
      await opened.close()
      await s3[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

function bucketOf(s3: TmpBucket): Bucket {
  return withVariables(s3.variables, () => createBucket(s3.variables.VITAMIN_OBJECTS!))
}

for (const kind of ["database", "bucket"] as const)
  test(
    `objects keep equal bytes once, for several owners, until the last one is removed (${kind})`,
    real,
    async () => {
      await using given = await setUp()
      const objects = given.objectsWith(kind === "bucket" ? given.bucket : undefined)
      const large = Buffer.alloc(3_000_000, "large")
      const empty = Buffer.alloc(0)
      await objects.put("a", [
        { name: "x", bytes },
        { name: "y", bytes },
        { name: "large", bytes: large },
        { name: "empty", bytes: empty },
      ])
      await objects.put("b", [{ name: "x", bytes }])
      assert.equal((await given.database.query("select 1 from vitamin.object")).length, 3)
      assert.equal(given.s3.files().length, kind === "bucket" ? 3 : 0)
      for (const [name, expected] of [
        ["y", bytes],
        ["large", large],
        ["empty", empty],
      ] as const)
        assert.equal(expected.equals((await objects.get(name))!), true, name)
      assert.deepEqual(await objects.list("a", ""), ["empty", "large", "x", "y"])
      await objects.remove("a")
      assert.deepEqual(await objects.get("x"), bytes)
      assert.equal(await objects.get("large"), undefined)
      await objects.put("b", [{ name: "x", bytes: Buffer.from("other bytes") }])
      assert.equal(String(await objects.get("x")), "other bytes")
      await objects.remove("b")
      assert.deepEqual([await objects.get("x"), given.s3.files().length <= 1], [undefined, true])
    },
  )

test(
  "bytes that one server removes and another one stores at the same moment are not lost",
  real,
  async () => {
    await using given = await setUp()
    const gate = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const slow = given.objectsWith({
      ...given.bucket,
      async remove(key) {
        reached.resolve()
        await gate.promise
        await given.bucket.remove(key)
      },
    })
    const other = given.objectsWith(given.bucket)
    await slow.put("a", [{ name: "x", bytes }])
    const removing = slow.remove("a")
    await reached.promise
    await other.put("b", [{ name: "x", bytes }])
    gate.resolve()
    await removing
    assert.deepEqual(await other.get("x"), bytes)
    assert.equal(given.s3.files().length, 1)
  },
)

test("of two servers that store equal bytes at once one upload stays, and both read it", real, async () => {
  await using given = await setUp()
  const gate = Promise.withResolvers<void>()
  const uploaded = Promise.withResolvers<void>()
  const slow = given.objectsWith({
    ...given.bucket,
    async put(key, all) {
      await given.bucket.put(key, all)
      uploaded.resolve()
      await gate.promise
    },
  })
  const other = given.objectsWith(given.bucket)
  const storing = slow.put("a", [{ name: "x", bytes }])
  await uploaded.promise
  await other.put("b", [{ name: "x", bytes }])
  gate.resolve()
  await storing
  assert.equal(given.s3.files().length, 1)
  await other.remove("b")
  assert.deepEqual(await slow.get("x"), bytes)
  await slow.remove("a")
  assert.deepEqual(given.s3.files(), [])
})

test("bytes that are removed and stored again while they are read are found", real, async () => {
  await using given = await setUp()
  const other = given.objectsWith(given.bucket)
  let reads = 0
  const slow = given.objectsWith({
    ...given.bucket,
    async get(key, size) {
      if (++reads === 1) {
        await other.remove("a")
        await other.put("b", [{ name: "x", bytes }])
      }
      return given.bucket.get(key, size)
    },
  })
  await slow.put("a", [{ name: "x", bytes }])
  assert.deepEqual(await slow.get("x"), bytes)
  assert.equal(reads, 2)
})

test("a second try to store bytes leaves no upload that nobody uses", real, async () => {
  await using given = await setUp()
  const other = given.objectsWith(given.bucket)
  await other.put("a", [{ name: "x", bytes }])
  let uploads = 0
  const slow = given.objectsWith({
    ...given.bucket,
    async put(key, all) {
      // Other bytes of the same call were there when it began.
      if (++uploads === 1) await other.remove("a")
      await given.bucket.put(key, all)
    },
  })
  const fresh = Buffer.from("fresh bytes")
  await slow.put("b", [
    { name: "x", bytes },
    { name: "y", bytes: fresh },
  ])
  assert.deepEqual([await slow.get("x"), await slow.get("y")], [bytes, fresh])
  assert.equal(given.s3.files().length, 2)
  assert.equal(uploads, 2)
})

test(
  "a bucket that restarts is waited for, and bytes of the database stay readable beside it",
  real,
  async () => {
    await using given = await setUp()
    const before = given.objectsWith()
    await before.put("a", [{ name: "old", bytes: Buffer.from("in the database") }])
    const objects = given.objectsWith(given.bucket)
    assert.equal(String(await objects.get("old")), "in the database")
    await given.s3.down()
    const storing = objects.put("a", [{ name: "x", bytes }])
    await given.s3.up()
    await storing
    assert.deepEqual(await objects.get("x"), bytes)
  },
)

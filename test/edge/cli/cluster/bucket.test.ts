// `VITAMIN_OBJECTS`: which buckets a server refuses, in one line that says what to do, and what the doctor says.
import assert from "node:assert/strict"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { noPostgres, tmpDatabase } from "../../../fixture/postgres.ts"
import { secretKey, tmpBucket } from "../../../fixture/s3.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const real = { skip: noPostgres, timeout: 120_000 }

/** Takes connections and never answers. */
async function silentServer() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket)).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

test(
  "vitamin serve refuses a bucket that cannot be used, and one that its fleet does not use",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    await using bucket = await tmpBucket()
    const set = { VITAMIN_DATABASE: database.url, ...bucket.variables }
    const refusal = async (more: Record<string, string>) => {
      const { code, out, err } = await vitamin(tmp, ["serve", "--port", "0"], { ...set, ...more })
      assert.deepEqual([code, out, err.includes(secretKey)], [1, "", false], err)
      assert.match(err, /^vitamin: [^\n]+\n$/)
      return err
    }
    const doctor = async (more: Record<string, string> = {}) => {
      const { out } = await vitamin(tmp, ["doctor"], { ...set, ...more })
      assert.equal(out.includes(secretKey), false)
      return out
    }
    await using silent = await silentServer()
    const closed = await silentServer()
    await closed[Symbol.asyncDispose]()

    for (const [more, reason] of [
      [{ VITAMIN_OBJECTS: "s3://key:secret@team" }, /VITAMIN_OBJECTS is refused: .* is not s3:\/\/BUCKET/],
      [{ AWS_ACCESS_KEY_ID: "" }, /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set/],
      [{ AWS_ACCESS_KEY_ID: "other" }, /it does not know the key \(InvalidAccessKeyId\)/],
      [{ AWS_SECRET_ACCESS_KEY: "wrong" }, /the key is wrong \(SignatureDoesNotMatch\)/],
      [{ AWS_ENDPOINT_URL_S3: "s3.example.com" }, /AWS_ENDPOINT_URL_S3 is refused/],
      [
        { AWS_ENDPOINT_URL_S3: closed.url },
        /at 127\.0\.0\.1:\d+ cannot be used: nobody answers there \(ECONNREFUSED\)/,
      ],
      [{ AWS_ENDPOINT_URL_S3: silent.url }, /it did not answer in time/],
    ] as const)
      assert.match(await refusal(more), reason)
    // A refused start creates no tables, which would name a bucket that is wrong.
    const names = "select nspname from pg_namespace where nspname like 'vitamin%'"
    assert.deepEqual(await database.query(names), [])
    assert.equal((await vitamin(tmp, ["session", "list"], set)).code, 0)
    await using none = await tmpDatabase()
    assert.match(
      await refusal({ VITAMIN_DATABASE: none.url, VITAMIN_OBJECTS: "s3://missing" }),
      /The objects in s3:\/\/missing at \S+ cannot be used: there is no such bucket; create it first/,
    )

    assert.match(
      await refusal({ VITAMIN_OBJECTS: "s3://team/other" }),
      /its servers keep the bytes of objects in s3:\/\/team\/objects, and VITAMIN_OBJECTS is s3:\/\/team\/other here\. Set VITAMIN_OBJECTS=s3:\/\/team\/objects$/m,
    )
    assert.match(await refusal({ VITAMIN_OBJECTS: "" }), /and VITAMIN_OBJECTS is not set here/)
    assert.match(await doctor(), /^ok +objects +.* are in s3:\/\/team\/objects at 127\.0\.0\.1/m)
    assert.match(
      await doctor({ AWS_SECRET_ACCESS_KEY: "wrong" }),
      /^bad +objects +The objects in s3:\S+ at \S+ cannot be used: the key is wrong/m,
    )
    await using plain = await tmpDatabase()
    const tables = { VITAMIN_DATABASE: plain.url, VITAMIN_OBJECTS: "" }
    await vitamin(tmp, ["session", "list"], { ...set, ...tables })
    assert.match(await doctor(tables), /^ok +objects +.* are in the database/m)
    assert.match(
      await refusal({ VITAMIN_DATABASE: plain.url }),
      /keep the bytes of objects in the database, and VITAMIN_OBJECTS is s3:\/\/team\/objects here\. Unset it/,
    )
  },
)

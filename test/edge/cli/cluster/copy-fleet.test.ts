// `vitamin storage copy` with what belongs to the servers of a database: workers that are alive, schedules, and prompts that
// wait in the queue.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { noPostgres, password, tmpDatabase } from "../../../fixture/postgres.ts"
import { until } from "../../../fixture/until.ts"
import { startFleet } from "../../cluster/harness.ts"
import { holdPrompts, prompterOf } from "../../cluster/held-prompts.ts"
import { addSchedule, schedule, setTimes } from "../../cluster/schedule-harness.ts"

const real = { skip: noPostgres, timeout: 240_000 }

test(
  "storage copy refuses databases with a live worker, copies schedules, and keeps waiting prompts as skipped ones",
  real,
  async () => {
    await using other = await tmpDatabase()
    await using held = await holdPrompts()
    await using fleet = await startFleet(1, held.llm)
    const { tmp, database } = fleet
    const run = (...args: string[]) => vitamin(tmp, args, { VITAMIN_DATABASE: database.url })
    const copy = (from: string, to: string, ...more: string[]) => run("storage", "copy", from, to, ...more)
    const [worker] = fleet.workers
    assert.equal((await run("limit", "set", "running.person", "1")).code, 0)
    const owner = await prompterOf(fleet, undefined)
    assert.equal((await owner.prompt(worker!, "owner p 1")).status, 202)
    await until(() => held.running.includes("owner p 1"), "the first prompt")
    const waiting = await owner.prompt(worker!, "owner p 2")
    assert.equal(waiting.status, 202)
    const yearly = await addSchedule(fleet, "owner q 7")
    const paused = await addSchedule(fleet, "owner q 8")
    assert.equal((await schedule(fleet, "pause", paused)).code, 0)

    for (const [from, to] of [
      ["database", "files"],
      ["files", "database"],
      ["database", other.url],
      [other.url, "database"],
    ] as const) {
      const { code, out, err } = await copy(from, to)
      assert.deepEqual([code, out, err.includes(password)], [1, "", false], err)
      assert.match(
        err,
        new RegExp(
          `^vitamin: The database test_\\S+ at \\S+ is in use by the worker \\S+-${worker!.child.process.pid}-\\w+\\. Stop`,
        ),
      )
    }
    worker!.signal("SIGTERM")
    await worker!.child.exit

    const toFiles = await copy("database", "files")
    assert.equal(toFiles.code, 0, toFiles.err)
    const skips = `^1 prompt of the queue will not run in the target, .*, in ${waiting.id}\\.$`
    assert.match(toFiles.err, new RegExp(skips, "m"))
    const left = `Not copied: 2 schedules, which .*:\n  ${yearly}  0 0 29 2 \\*  owner q 7\n  ${paused}  0 0 29 2 \\*  owner q 8\n`
    assert.match(toFiles.err, new RegExp(left))
    const listed = await vitamin(tmp, ["session", "list", "--format", "json"])
    const found = JSON.parse(listed.out).find(({ id }: { id: string }) => id === waiting.id)
    assert.deepEqual(
      found.skipped.map(({ text }: { text: string }) => text),
      ["owner p 2"],
    )

    const written = /^(\d) schedules of the source are equal in the target; (\d) of them were written now/m
    const toOther = await copy("database", other.url)
    assert.deepEqual(written.exec(toOther.out)?.slice(1), ["2", "2"], toOther.err)
    assert.match(toOther.out, /^\d+ records .*\n\d+ objects .*\n2 schedules .*$/, "nothing else")
    assert.match(toOther.err, new RegExp(skips, "m"))
    assert.deepEqual(written.exec((await copy("database", other.url)).out)?.slice(1), ["2", "0"])
    const copied = { ...fleet, database: other }
    const list = async (at: typeof copied) => (await schedule(at, "list", "--format", "json")).out
    const before = await list(fleet)
    assert.equal(await list(copied), before)
    assert.match(before, /"paused": true/)
    await setTimes(copied, yearly, "0 1 29 2 *")
    const refused = await copy("database", other.url)
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      new RegExp(`^vitamin: Schedule ${yearly} is in the target, and differs.*--overwrite`),
    )
    assert.deepEqual(written.exec((await copy("database", other.url, "--overwrite")).out)?.slice(1), [
      "2",
      "1",
    ])
    assert.equal(await list(copied), before)

    // A server on the copy reports the prompt and runs the schedule.
    const next = await fleet.start({ database: other.url })
    const { body } = await next.call("GET", `/session/${waiting.id}`)
    assert.equal(body.skipped?.[0]?.text, "owner p 2", JSON.stringify(body))
    await setTimes(copied, yearly)
    await until(() => held.running.includes("owner q 7"), "the run of the schedule")
    assert.deepEqual(
      held.began.filter((one) => one === "owner p 2" || one === "owner q 8"),
      [],
    )
  },
)

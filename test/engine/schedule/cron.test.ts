// Cron expressions, compared with the engine that fires the schedules.
import assert from "node:assert/strict"
import { test } from "node:test"
import { checkTimezone, InvalidCron, InvalidTimezone, nextTime, parseCron } from "#engine/schedule/cron.ts"

type Matcher = new (cron: string, timezone: string) => { nextWakeupTime(after: number): Date }
/** Its package does not export it. */
const engine = "../../../node_modules/@dbos-inc/dbos-sdk/dist/src/scheduler/crontab.js"
const { TimeMatcher } = (await import(engine)) as { TimeMatcher: Matcher }

function next(cron: string, timezone: string, after: string): string | undefined {
  const time = nextTime(parseCron(cron), timezone, Date.parse(after))
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16)
}

test("nextTime() follows the time zone through both daylight-saving changes", () => {
  const berlin = (after: string) => next("30 7 * * *", "Europe/Berlin", after)
  assert.equal(berlin("2026-03-28T00:00Z"), "2026-03-28T06:30")
  assert.equal(berlin("2026-03-28T06:30Z"), "2026-03-29T05:30")
  assert.equal(berlin("2026-10-24T05:30Z"), "2026-10-25T06:30")
  // Clocks skip 2:30 on 29 March, and show it twice on 25 October.
  const atNight = (after: string) => next("30 2 * * *", "Europe/Berlin", after)
  assert.equal(atNight("2026-03-28T12:00Z"), "2026-03-30T00:30")
  assert.equal(atNight("2026-10-24T12:00Z"), "2026-10-25T00:30")
  assert.equal(atNight("2026-10-25T00:30Z"), "2026-10-25T01:30")
})

test("nextTime() computes the times at which the engine fires", () => {
  const expressions = [
    "* * * * *",
    "0 7 * * 1",
    "*/7 3-20/4 * * *",
    "5,17,45 0 1,15 * *",
    "0 0 29 2 *",
    "0 0 29 feb mon",
    "30 23 31 * *",
    "0 12 1-7 * mon",
    "59 23 28-31 jun-sep,dec fri-sat",
    "0 0 * January 7",
    "15 2 * * sun",
    "0 4 * * 5-7",
    "0 4 * * */2",
  ]
  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Kathmandu",
  ]
  for (const cron of expressions)
    for (const zone of zones) {
      const theirs = new TimeMatcher(cron, zone)
      let time = Date.parse("2026-03-20T11:23:45Z")
      for (let n = 0; n < 6; n++) {
        const expected = theirs.nextWakeupTime(time).toISOString()
        time = nextTime(parseCron(cron), zone, time) ?? Number.NaN
        assert.equal(new Date(time).toISOString(), expected, `${cron} in ${zone}`)
        // Also from a time shortly before the clocks change.
        if (n === 2) time = Math.max(time, Date.parse("2026-10-03T12:00:00Z"))
      }
    }
})

test("parseCron() refuses what is no expression, never comes, or comes more than once a minute", () => {
  const refusals: Record<string, RegExp> = {
    "": /it has 0 fields/,
    hourly: /it has 1 fields/,
    "* * * *": /it has 4 fields/,
    "* * * * * *": /field for seconds; a schedule runs at most once a minute/,
    "60 * * * *": /"60" is no minute, which is 0 to 59/,
    "0 24 * * *": /no hour/,
    "0 0 0 * *": /no day of the month/,
    "0 0 * 13 *": /no month/,
    "0 0 * * 8": /no weekday/,
    "0 0 * * someday": /no weekday/,
    "0 0 30 2 *": /such a day never comes/,
    "0 0 31 apr,jun *": /such a day never comes/,
    "*/0 * * * *": /a step follows/,
    "5/10 * * * *": /a step follows/,
    "30-10 * * * *": /a range goes up/,
    "1,,2 * * * *": /no minute/,
    "-1 * * * *": /no minute/,
    "1-2-3 * * * *": /no minute/,
    "@daily": /it has 1 fields/,
    "0 0 L * *": /no day of the month/,
  }
  for (const [cron, reason] of Object.entries(refusals))
    assert.throws(
      () => parseCron(cron),
      (error) => error instanceof InvalidCron && reason.test(error.message),
      cron,
    )
  checkTimezone("Asia/Tokyo")
  assert.throws(() => checkTimezone("Mars/Olympus"), InvalidTimezone)
})

// The order of the tiers as behavioral threads: static analysis, then a model as judge, then the browser. A tier that may not
// run yet, and a pass that is not earned, is an event that a thread blocks.
import {
  behavioral,
  bSync,
  bThread,
  type Event,
  type Program,
  type RuleThread,
} from "#kernel/behavioral/behavioral.ts"

export type Tier = "static" | "judge" | "browser"
/** A tier starts (`judge`), finds an error (`static.error`), or ends (`judge.passed`, `judge.failed`, `judge.skipped`). */
export type TierEvent = Tier | `${Tier}.${"error" | "passed" | "failed" | "skipped"}`

/** A score below this does not pass. */
const minimumScore = 0.5

/** Each is named after what it holds back, so that the name explains a tier that did not run. */
const tierGuards: Readonly<Record<string, RuleThread>> = {
  "static analysis comes first": bThread([
    bSync({ waitFor: is("static.passed"), block: [is("judge"), is("browser")] }),
  ]),
  "the judge comes before the browser": bThread([
    bSync({ waitFor: [is("judge.passed"), is("judge.skipped")], block: is("browser") }),
  ]),
  "templates with errors do not pass": bThread([
    bSync({ waitFor: is("static.error") }),
    bSync({ block: is("static.passed") }),
  ]),
  "a low score does not pass": bThread([
    bSync({
      block: ({ type, detail }: Event) => type === is("judge.passed") && !(Number(detail) >= minimumScore),
    }),
  ]),
  "stories that fail do not pass": bThread([
    bSync({ waitFor: is("browser.error") }),
    bSync({ block: is("browser.passed") }),
  ]),
}

export function createTierProgram(): Program {
  const program = behavioral()
  for (const [name, thread] of Object.entries(tierGuards)) program.addThread(name, thread)
  return program
}

/** The compiler checks the names of events. */
function is(type: TierEvent): TierEvent {
  return type
}

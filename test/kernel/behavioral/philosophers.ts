// Five philosophers at a round table with five forks, as threads over events from outside.
import { bSync, bThread, type Event, type RuleThread } from "#kernel/behavioral/behavioral.ts"

export const philosophers = [0, 1, 2, 3, 4]
const steps = ["take left", "take right", "put left", "put right"]
const count = philosophers.length

/** Everything that may happen. */
export const dine: Event[] = philosophers.flatMap((detail) => steps.map((type) => ({ type, detail })))

/** Each takes the left fork, then the right one, eats, and puts both back. */
export function dinner(): [string, RuleThread][] {
  return [
    ...philosophers.map((i): [string, RuleThread] => {
      const isMine = (type: string) => (event: Event) => event.type === type && event.detail === i
      const isOther = (type: string) => (event: Event) => event.type !== type && event.detail === i
      const rules = steps.map((type) => bSync({ waitFor: isMine(type), block: isOther(type) }))
      return [`philosopher ${i}`, bThread(rules, true)]
    }),
    ...philosophers.map((fork): [string, RuleThread] => {
      const moves = (verb: string) => (event: Event) =>
        (event.type === `${verb} left` && event.detail === fork) ||
        (event.type === `${verb} right` && event.detail === (fork + count - 1) % count)
      const rules = [
        bSync({ waitFor: moves("take") }),
        bSync({ waitFor: moves("put"), block: moves("take") }),
      ]
      return [`fork ${fork}`, bThread(rules, true)]
    }),
  ]
}

/** Its position is the number of philosophers who hold a fork. It lets no fifth one begin. */
export const waiter: [string, RuleThread] = [
  "waiter",
  bThread(
    [0, 1, 2, 3, 4].map((seated) =>
      bSync(
        { waitFor: ["take left", "put right"], ...(seated === 4 ? { block: "take left" } : {}) },
        ({ type }) => (type === "take left" ? seated + 1 : seated - 1),
      ),
    ),
  ),
]

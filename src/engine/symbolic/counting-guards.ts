// Ready-made guards whose state is a count, not a position in a list of rules.
import type { Event, Idiom, Thread } from "#kernel/behavioral/behavioral.ts"
import type { Guards } from "#kernel/schema/schema.ts"
import type { Guard } from "./guard.ts"
import type { Detail } from "./guard-event.ts"

/** Counts calls in a row with the same tool and arguments, whatever their results are. Three with the same result end the
 * turn (turn/repeats.ts); this guard comes before, and the turn goes on. */
export function noRepeats({ times = 2 }: NonNullable<Guards["no-repeats"]>, name: string): Guard {
  const isCall = ({ type, detail }: Event) => (detail as Detail | undefined)?.tool === type
  function* thread(): ReturnType<Thread> {
    let [last, count] = ["", 0]
    const idiom: Idiom = {
      waitFor: isCall,
      block: (event) => count >= times && isCall(event) && last === textOf(event),
    }
    for (;;) {
      const text = textOf(yield idiom)
      count = text === last ? count + 1 : 1
      last = text
    }
  }
  return Object.freeze({
    name,
    source: "ready-made",
    because: `the same call was made ${times} times in a row`,
    until: "another call",
    thread,
  })
}

function textOf({ type, detail }: Event): string {
  return JSON.stringify([type, (detail as Detail).args])
}

/** The answer stays allowed, so that the model can say how far it came. */
export function createBudget({ tokens, cost }: NonNullable<Guards["budget"]>, name: string): Guard {
  let spent = { tokens: 0, cost: 0 }
  const isSpent = () => spent.tokens > (tokens ?? Infinity) || spent.cost > (cost ?? Infinity)
  function* thread(): ReturnType<Thread> {
    const own = { tokens: 0, cost: 0 }
    const idiom: Idiom = {
      waitFor: "usage",
      block: (event) => {
        spent = own
        return isSpent() && (event.detail as Detail | undefined)?.tool === event.type
      },
    }
    for (;;) {
      const { detail } = yield idiom
      own.tokens += (detail as Detail).tokens ?? 0
      own.cost += (detail as Detail).cost ?? 0
    }
  }
  const because = () => {
    const used = [
      ...(tokens === undefined ? [] : [`${spent.tokens} of ${tokens} tokens`]),
      ...(cost === undefined ? [] : [`$${spent.cost.toFixed(4)} of $${cost}`]),
    ]
    return `the budget of this session is spent (${used.join(", ")}). Answer with what you have`
  }
  return Object.freeze({ name, source: "ready-made", because, thread })
}

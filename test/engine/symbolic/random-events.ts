// Events as the guards of a session see them, chosen at random.
import { actionOf, type GuardEvent, plainEvent, resultOf } from "#engine/symbolic/guard-event.ts"
import type { Random } from "../../fixture/random.ts"

export const deed = (tool: string, need: string, args?: unknown) => ({ tool, needs: [need], args })

export function randomEvent(random: Random): { event: GuardEvent; isFact: boolean } {
  const path = ["a.ts", "b.ts", "c.md"][random(3)]!
  const command = ["npm test", "deploy", "ls"][random(3)]!
  const stories = [undefined, [], ["a.ts"], ["a.ts", "b.ts"]][random(4)]
  const deeds = [
    deed("read", `file.read:${path}`),
    deed("edit", `file.edit:${path}`),
    deed("write", `file.write:${path}`),
    deed("bash", `bash.execute:${command}`),
    deed("world_run", "tool.execute:world_run", { stories }),
  ]
  const own = deeds[random(deeds.length)]!
  const kind = random(8)
  if (kind < 3) return { event: actionOf(own), isFact: false }
  if (kind < 6) return { event: resultOf(own, { hasFailed: random(3) === 0 }), isFact: true }
  return kind === 6
    ? { event: plainEvent("answer"), isFact: false }
    : { event: plainEvent("prompt"), isFact: true }
}

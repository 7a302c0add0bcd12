// Random rule threads, the same for the same seed.
import { bSync, bThread, type Idiom, type RuleThread } from "#kernel/behavioral/behavioral.ts"
import { createRandom, type Random } from "../../fixture/random.ts"

export const letters = ["a", "b", "c", "d", "e"]

export function randomThreads(seed: number, { most = 6 } = {}): [string, RuleThread][] {
  const random = createRandom(seed)
  return Array.from({ length: 1 + random(most) }, (_, i) => {
    const length = 1 + random(4)
    const rules = Array.from({ length }, (_, at) => {
      const idiom = randomIdiom(random)
      const to = random(length)
      if (random(4)) return bSync(idiom)
      return bSync(idiom, ({ type }) => (type === "a" ? to : type === "b" ? at : undefined))
    })
    return [`thread ${i}`, bThread(rules, random(2) === 0)]
  })
}

function randomIdiom(random: Random): Idiom {
  const letter = () => letters[random(letters.length)]!
  const listeners = () => {
    const [one, other] = [letter(), letter()]
    return [one, [one, other], ({ type }: { type: string }) => type >= one][random(3)]!
  }
  return {
    ...(random(4) ? {} : { request: { type: letter() } }),
    ...(random(3) ? { waitFor: listeners() } : {}),
    ...(random(3) ? {} : { block: listeners() }),
    ...(random(12) ? {} : { interrupt: listeners() }),
  }
}

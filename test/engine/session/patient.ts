// A test world with long time limits: for scripts that count requests, where a busy machine must not cause a retry.
import type { Script } from "../../fixture/fake-llm.ts"
import { inWorld, type World } from "./harness.ts"

const patient = { stall: 120_000 }

export function inPatientWorld(
  script: Script,
  fn: (world: World) => Promise<unknown>,
  setting?: Parameters<typeof inWorld>[2],
): Promise<void> {
  return inWorld(
    script,
    (world) =>
      fn({ ...world, ask: (text, input, timing) => world.ask(text, input, { ...patient, ...timing }) }),
    setting,
  )
}

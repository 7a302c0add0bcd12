// A world whose model may take its time: for scripts that count their requests, where none may be made twice because the
// machine is busy.
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

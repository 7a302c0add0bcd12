// What `vitamin doctor` says of instructions: the files that every prompt starts with.
import { readInstructions } from "#engine/context/instructions.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import type { Finding } from "./doctor.ts"

const about = "instructions"

export async function findInstructions(directory: string): Promise<Finding[]> {
  try {
    await Config.inspect({ directory })
  } catch {
    // What is wrong with the configuration was said already.
    return []
  }
  try {
    const files = await Instance.provide({ directory, fn: () => readInstructions() })
    if (files.length) return [{ state: "ok", about, text: files.map(({ name }) => name).join(", ") }]
    const todo = "write what every task should know into AGENTS.md"
    return [{ state: "note", about, text: "none", todo }]
  } finally {
    await Instance.disposeAll()
  }
}

// The lines of `vitamin doctor` about added GGUF files and the library that runs them.
import { checkAdded, listAdded } from "#ability/provider/added-models.ts"
import { errorText } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import type { Finding } from "./doctor.ts"

const about = "GGUF models"

export async function findGguf(): Promise<Finding[]> {
  const { findLlama, installCommand } = await import("#knowledge/llama/llama.ts")
  const added = Object.entries(listAdded())
  const found = findLlama()
  const engine: Finding = found
    ? { state: "ok", about, text: "can be run (node-llama-cpp)" }
    : { state: "note", about, text: "cannot be run; not installed: node-llama-cpp", todo: installCommand() }
  return [
    engine,
    ...added.map(([name, model]): Finding => {
      try {
        checkAdded(name, model)
        return { state: "ok", about, text: `local/${name} is ${model.path}` }
      } catch (error) {
        return {
          state: "bad",
          about,
          text: errorText(error),
          todo: `or forget it: ${ownCommand} models remove ${name}`,
        }
      }
    }),
  ]
}

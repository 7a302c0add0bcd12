// `vitamin tool list`: what a model can be given to work with.
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { type FolderOptions, inInstance } from "./in-instance.ts"

export async function listTools(options: FolderOptions & { format: "text" | "json" }): Promise<void> {
  await inInstance(options, () => {
    if (options.format === "json")
      return void process.stdout.write(`${JSON.stringify(ToolRegistry.toModelTools(), null, 2)}\n`)
    for (const { id, category, description } of ToolRegistry.list())
      process.stdout.write(`${id.padEnd(12)} ${category.padEnd(10)} ${description.split("\n", 1)[0]}\n`)
  })
}

// `vitamin models`: every known model, and those found on this machine, with input types and price. `models add` and
// `models remove` are about GGUF files, which run on this machine as local/NAME.

import { addModel, listAdded, removeModel } from "#ability/provider/added-models.ts"
import * as Provider from "#ability/provider/provider.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { findLlama, installCommand } from "#knowledge/llama/llama.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"

const hint = `"${ownCommand} models" shows all of them.`

export async function listModels(
  options: FolderOptions & {
    provider?: string | undefined
    format: "text" | "json"
    refresh?: boolean | undefined
    from?: string | undefined
  },
): Promise<void> {
  await inInstance(options, async () => {
    if (options.refresh)
      process.stderr.write(`${await Provider.refresh(options.from)} models are known now\n`)
    await Provider.load()
    // Refuses an unknown provider and suggests the nearest one.
    if (options.provider) await Provider.auth(options.provider)
    const names = new Map(
      [...Provider.models(), ...(await Provider.localModels())].map((model) => [
        `${model.provider}/${model.id}`,
        model,
      ]),
    )
    const models = [...names.values()].filter(
      (model) => !options.provider || model.provider === options.provider,
    )
    if (options.format === "json") return void process.stdout.write(`${JSON.stringify(models, null, 2)}\n`)
    if (!models.length) process.stderr.write(`No model of "${options.provider}" is known. ${hint}\n`)
    for (const { provider, id, context, cost, tools, input } of models) {
      const price = cost ? `$${cost.input}/$${cost.output}` : "-"
      const can = [tools ? "tools" : "", ...input.filter((kind) => kind !== "text")].filter(Boolean).join(" ")
      process.stdout.write(
        `${`${provider}/${id}`.padEnd(56)} ${String(context).padStart(9)}  ${price.padEnd(14)} ${can}\n`,
      )
    }
  })
}

class NotThere extends NamedError {
  constructor(name: string) {
    const known = Object.keys(listAdded())
    const hint = known.length ? `Added: ${known.join(", ")}.` : "None was added yet."
    super("Models.NotThere", `There is no added model "${name}". ${hint}`, { name })
  }
}

export async function addGguf(options: { file: string; name?: string | undefined }): Promise<void> {
  const { name, model } = await addModel(options.file, options.name)
  process.stdout.write(`local/${name} is ${safeText(model.path)} (${Math.ceil(model.size / 2 ** 20)} MB)\n`)
  if (!findLlama())
    process.stderr.write(`To run it, node-llama-cpp is needed. This adds it: ${installCommand()}\n`)
}

export async function removeGguf({ name }: { name: string }): Promise<void> {
  const plain = name.replace(/^local\//, "")
  if (!(await removeModel(plain))) throw new NotThere(plain)
  process.stdout.write(`local/${plain} is removed; its file stays\n`)
}

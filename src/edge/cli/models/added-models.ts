// `vitamin models add` and `remove`: GGUF files that run on this machine, as local/NAME.
import { addModel, listAdded, removeModel } from "#ability/provider/added-models.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { findLlama, installCommand } from "#knowledge/llama/llama.ts"
import { NamedError } from "#util/error.ts"

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
  process.stdout.write(`local/${plain} is forgotten; its file stays\n`)
}

// The GGUF files that a person added with `vitamin models add`: the path, size and time of each. The files are not
// copied.
import { statSync } from "node:fs"
import { basename, resolve } from "node:path"
import * as Catalog from "#ability/provider/catalog/catalog.ts"
import { tokens } from "#ability/provider/functiongemma/control-tokens.ts"
import { createPrivateJson } from "#kernel/storage/private-json.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"

export type AddedModel = {
  path: string
  size: number
  /** Milliseconds. */
  modified: number
  /** The context length in the file's header, if there is one. */
  context?: number
}

class CannotAdd extends NamedError {
  constructor(path: string, reason: string) {
    super("Models.CannotAdd", `${JSON.stringify(path)} was not added: ${reason}`, { path })
  }
}

class ModelChanged extends NamedError {
  constructor(name: string, path: string, reason: string) {
    super(
      "Models.Changed",
      `The file of local/${name} ${reason}: ${path}. If that is right: ${ownCommand} models add ${JSON.stringify(path)} --name ${name}`,
      { name, path },
    )
  }
}

/** The context length of FunctionGemma, and enough tokens for an answer of a small model. */
const usualContext = 32_768
const usualOutput = 4_096
const validName = /^[\w][\w.:-]{0,99}$/

const { read, update } = createPrivateJson<AddedModel>({
  name: "gguf-models",
  isEntry: (value) => typeof (value as AddedModel | null)?.path === "string",
  refuse: (file, reason) =>
    new NamedError(
      "Models.UnreadableList",
      `The list of models ${file} cannot be used: ${reason}. Move it away.`,
      { path: file },
    ),
})

export function listAdded(): Record<string, AddedModel> {
  return read()
}

/** Adds a file under a name. Throws `CannotAdd`, and errors about the file's header. */
export async function addModel(file: string, wanted?: string): Promise<{ name: string; model: AddedModel }> {
  const path = resolve(file)
  const { readGgufHeader } = await import("#knowledge/llama/gguf-header.ts")
  const { size, modified, context, chatTemplate } = readGgufHeader(path)
  if (chatTemplate !== undefined && !chatTemplate.includes(tokens.startCall))
    throw new CannotAdd(
      path,
      "its chat template is not that of FunctionGemma, the only format that is supported here. Other models: start llama-server (llama.cpp), Ollama or LM Studio with it; vitamin finds them.",
    )
  const name = wanted ?? nameOf(path)
  if (!validName.test(name) || name === Catalog.offlineModel.id)
    throw new CannotAdd(path, `it cannot be called "${name}". Another name: --name NAME`)
  const other = Object.hasOwn(read(), name) ? read()[name]!.path : path
  if (wanted === undefined && other !== path)
    throw new CannotAdd(path, `local/${name} is ${JSON.stringify(other)} already. Another name: --name NAME`)
  const model = { path, size, modified, ...(context === undefined ? {} : { context }) }
  await update((all) => ({ ...all, [name]: model }))
  return { name, model }
}

/** Removes a model from the list. Returns whether there was one. The file stays. */
export async function removeModel(name: string): Promise<boolean> {
  if (!Object.hasOwn(read(), name)) return false
  await update(({ [name]: _, ...rest }) => rest)
  return true
}

/** Throws `ModelChanged` if the file is not as it was added. */
export function checkAdded(name: string, { path, size, modified }: AddedModel): void {
  const now = statSync(path, { throwIfNoEntry: false })
  if (!now) throw new ModelChanged(name, path, "is not there any more")
  if (now.size !== size || now.mtimeMs !== modified)
    throw new ModelChanged(name, path, "has changed since it was added")
}

export function factsOfAdded(id: string, { context = usualContext }: AddedModel): Catalog.ModelFacts {
  const window = Math.min(context, usualContext)
  return {
    provider: "local",
    id,
    name: `${id} (GGUF)`,
    context: window,
    output: Math.min(usualOutput, Math.floor(window / 4)),
    cost: { input: 0, output: 0 },
    tools: true,
    reasoning: false,
    temperature: true,
    input: ["text"],
  }
}

/** `functiongemma` for the first FunctionGemma; any other file gets its own name. */
function nameOf(path: string): string {
  const own = basename(path)
    .replace(/\.gguf$/i, "")
    .replaceAll(/[^\w.:-]+/g, "-")
  if (!/^functiongemma/i.test(own)) return own
  const taken = read().functiongemma
  return taken === undefined || taken.path === path ? "functiongemma" : own
}

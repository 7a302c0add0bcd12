// The first choice of a model: asked once by an interactive client if nothing names a model, and remembered in the state
// folder. A model that the environment, the configuration or an option names comes first.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { z } from "zod"
import * as Provider from "#ability/provider/provider.ts"
import * as Global from "#kernel/process/global.ts"
import { about } from "#util/about.ts"
import { checkModel, namedModel } from "./choose-model.ts"

export const Info = z.object({
  isNeeded: about("Nothing names a model, and the person was not asked yet.", z.boolean()),
  model: about("What the person chose, if nothing else names a model.", z.string().optional()),
  found: about(
    "Model servers that answer on this machine.",
    z.array(
      z.object({
        model: about("The model that would be used, as `provider/model`.", z.string()),
        baseURL: about("Where the server answers.", z.string()),
      }),
    ),
  ),
})
export type Info = z.infer<typeof Info>

const Stored = z.object({ time: z.number(), model: z.string().optional() })

export async function get(): Promise<Info> {
  const isNamed = (await namedModel(undefined)) !== undefined
  const stored = read()
  const servers = await Provider.localServers()
  return {
    isNeeded: !isNamed && stored === undefined,
    ...(stored?.model && !isNamed ? { model: stored.model } : {}),
    found: servers.flatMap(({ providerId, baseURL, model }) =>
      model ? [{ model: `${providerId}/${model}`, baseURL }] : [],
    ),
  }
}

/** Remembers that the person was asked, and the model that was chosen. Throws for a model that cannot be used. */
export async function write(model: string | undefined): Promise<void> {
  if (model) await checkModel(undefined, model)
  mkdirSync(dirname(place()), { recursive: true, mode: 0o700 })
  writeFileSync(place(), `${JSON.stringify({ time: Date.now(), ...(model ? { model } : {}) })}\n`, {
    mode: 0o600,
  })
}

/** Undefined if nothing readable is stored: then the person is asked again. */
function read(): z.infer<typeof Stored> | undefined {
  try {
    return Stored.parse(JSON.parse(readFileSync(place(), "utf8")))
  } catch {
    return undefined
  }
}

function place(): string {
  return join(Global.state(), "first-choice.json")
}

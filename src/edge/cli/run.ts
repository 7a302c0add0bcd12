// `vitamin run`: hand a message to a session of this folder.
import * as Config from "#kernel/config/config.ts"
import * as Env from "#kernel/env.ts"
import { NamedError } from "#util/error.ts"
import { UsageError } from "./exit.ts"
import { type FolderOptions, inInstance } from "./in-instance.ts"

type Options = FolderOptions & { message?: string[] | undefined; model?: string | undefined }

class NoModel extends NamedError {
  constructor() {
    super(
      "Run.NoModel",
      'No model is configured. Set VITAMIN_MODEL=provider/model, pass --model, or put "model" into vitamin.jsonc (vitamin config show tells where).',
    )
  }
}

class NoSession extends NamedError {
  constructor(model: string) {
    super("Run.NoSession", `Model ${model} is chosen, but this version cannot talk to models yet.`, { model })
  }
}

export async function run(options: Options): Promise<void> {
  if (!options.message?.join(" ").trim())
    throw new UsageError('Say what to do: vitamin run "fix the login bug"')
  await inInstance(options, async () => {
    const model = options.model ?? Env.get("VITAMIN_MODEL") ?? (await Config.get()).model
    throw model ? new NoSession(model) : new NoModel()
  })
}

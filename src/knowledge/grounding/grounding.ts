// Sources of facts about the project, behind one interface: its files, and its records.
import { Instance } from "#kernel/instance.ts"
import { NamedError } from "#util/error.ts"
import { type CodeRepo, createCodeRepo } from "./code-repo.ts"
import { createDataStore, type DataStore } from "./data-store.ts"

export type { CodeRepo, CodeSearch } from "./code-repo.ts"
export type { DataSearch, DataStore } from "./data-store.ts"
export type { Found, Item, Listing, Query, Source } from "./source.ts"

type Sources = { code_repo: CodeRepo; data_store: DataStore }
export type Name = keyof Sources

const makers: { [N in Name]: () => Sources[N] } = {
  code_repo: () => createCodeRepo(Instance.worktree),
  data_store: () => createDataStore(Instance.project.id),
}

export class NotFound extends NamedError {
  constructor(name: string) {
    super(
      "Grounding.NotFound",
      `There is no source of grounding ${JSON.stringify(name)}. Available: ${Object.keys(makers).join(", ")}`,
      { name },
    )
  }
}

/** A source of the current project. */
export function get<N extends Name>(name: N): Sources[N] {
  if (!Object.hasOwn(makers, name)) throw new NotFound(name)
  return makers[name]()
}

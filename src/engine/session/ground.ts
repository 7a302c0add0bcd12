// What an agent wants to know before it begins: an overview of the sources that it names, as far as it may read them
// without asking.
import { join } from "node:path"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import { Instance } from "#kernel/instance.ts"
import { storeFolder } from "#knowledge/grounding/store-folder.ts"
import type { Rights } from "./rights.ts"

/** `sessionId` is the session that is about to begin: it is told nothing of itself. */
export async function ground(agent: AgentDefinition, rights: Rights, sessionId: string): Promise<string[]> {
  const { grounding = [] } = agent.metadata
  if (!grounding.length) return []
  const { decide } = await rights.now()
  const mayRead = (target: string) => decide({ permission: "file.read", target }).action === "allow"
  const places = {
    code_repo: { root: Instance.worktree, accepts: (file: string) => mayRead(join(Instance.worktree, file)) },
    data_store: {
      root: storeFolder(Instance.project.id),
      accepts: (name: string) => !name.endsWith(`/${sessionId}`),
    },
  }
  const Grounding = await import("#knowledge/grounding/grounding.ts")
  const found = [...new Set(grounding)].map((name) => {
    const { root, accepts } = places[name]
    return mayRead(root) ? Grounding.get(name).describe({ accepts }) : ""
  })
  return (await Promise.all(found)).filter((text) => text !== "")
}

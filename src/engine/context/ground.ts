// An overview of the sources that an agent names, for its first request. Only sources that it may read without asking
// are included; for others the person is told once which rule would allow it.
import { join } from "node:path"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as Permission from "#ability/permission/permission.ts"
import { lastId } from "#engine/record/append.ts"
import { Notice } from "#engine/record/notice.ts"
import type { Permits } from "#engine/rights/permits.ts"
import type { Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import { storeFolder } from "#knowledge/grounding/store-folder.ts"

const told = Instance.state(() => new Set<string>())

/** Leaves out the session that is about to begin. */
export async function ground(
  { id, metadata: { grounding = [] } }: AgentDefinition,
  { rights, asks }: Permits,
  run: Pick<Run, "session" | "progress">,
): Promise<string[]> {
  const { session } = run
  if (!grounding.length) return []
  const { decide } = await rights.now()
  const judge = (target: string) => {
    const need = { permission: "file.read", target }
    return { ...need, ...decide(need) }
  }
  const isGiven = ({ action, protected: isProtected }: Permission.Decision) =>
    action === "allow" || (action === "ask" && asks === "once" && !isProtected)
  const places = {
    code_repo: {
      root: Instance.worktree,
      accepts: (file: string) => isGiven(judge(join(Instance.worktree, file))),
    },
    data_store: {
      root: storeFolder(Instance.project.id),
      accepts: (name: string) => !name.endsWith(`/${session.id}`),
    },
  }
  const Grounding = await import("#knowledge/grounding/grounding.ts")
  const found = [...new Set(grounding)].map((name) => {
    const { root, accepts } = places[name]
    const need = judge(root)
    if (isGiven(need)) return Grounding.get(name).describe({ accepts })
    const text = `the agent ${JSON.stringify(id)} is not told of ${name}: ${Permission.sayNeed(need)} ${whyNot(need)}`
    if (!told().has(session.id + text))
      Bus.publish(Notice, { sessionId: session.id, messageId: lastId(run) ?? "", text })
    told().add(session.id + text)
    return ""
  })
  return (await Promise.all(found)).filter((text) => text !== "")
}

function whyNot(need: Permission.JudgedNeed): string {
  if (need.action === "deny") return "is denied by a rule"
  return `needs permission. ${Permission.flagsFor([need])}`
}

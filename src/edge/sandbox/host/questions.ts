// Questions of a guest to the person. The parent judges again with its own rules and shows what it read, not what the guest
// says; only it stores the grants of an answer.
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { autoAgent } from "#ability/agent/builtin-agents.ts"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import * as Permission from "#ability/permission/permission.ts"
import { Ask, Elicit } from "#edge/sandbox/wire/doors.ts"
import { rememberAnswer } from "#engine/rights/questions.ts"
import { createRights, type Rights } from "#engine/rights/rights.ts"
import type { Work } from "#engine/run/run.ts"
import { plainText } from "#util/plain-text.ts"
import type { Deadline } from "./deadline.ts"
import type { PromptSessions } from "./prompt-sessions.ts"
import { Refused } from "./refused.ts"

const nobody: Permission.Answer = { reply: "reject", by: "nobody" }

export function createQuestionDoors(
  sessions: PromptSessions,
  work: Pick<Work, "agent" | "asks" | "rules" | "preset" | "directories" | "timing">,
  { signal, pause, allowed }: Pick<Deadline, "signal" | "pause"> & { allowed(url: string): void },
) {
  const { asks, timing } = work

  async function ask(args: unknown, until: AbortSignal): Promise<Permission.Answer> {
    const { needs: said, sessionId, onlyListeners, ...asked } = Ask.parse(args)
    if (asks === "deny" || asks === "once") return nobody
    refuseOther(sessionId, asked.agent)
    const rights = await rightsOf(sessionId, asked.agent)
    const { decide, askers } = await rights.now()
    const judged = said.map((need) => ({ ...need, ...decide(need) }))
    const denied = judged.find(({ action }) => action === "deny")
    if (denied) return { reply: "reject", by: "rule", message: `${Permission.sayNeed(denied)} is denied` }
    const needs = judged.map(Permission.showNeed)
    const agents = askers(said).filter((agent) => asked.agents?.includes(agent))
    const isProtected = asked.protected || judged.some((need) => need.protected)
    const isAllowedBy = async (by: typeof decide) => said.every((need) => by(need).action === "allow")
    const resume = pause()
    const answer = await Permission.ask({
      ...{ sessionId, messageId: asked.messageId, callId: asked.callId, tool: plainText(asked.tool, 200) },
      ...{ agent: asked.agent, agents, needs, task: asked.task, preview: asked.preview },
      ...(isProtected ? { protected: true } : {}),
      title: said.length
        ? `Allow ${plainText(asked.tool, 200)}: ${needs.map(Permission.sayNeed).join(", ")}?`
        : plainText(asked.title, 1_000),
      ...{ signal: until, limit: timing.reply, onlyListeners },
      remember: (answer) => rememberAnswer(rights, { needs, agents, isAllowedBy }, answer),
      isAllowed: async () => said.length > 0 && isAllowedBy((await rights.now()).decide),
    }).finally(resume)
    if (answer.reply !== "reject")
      for (const { permission, target } of said) if (permission === "network.fetch") allowed(target)
    return answer
  }

  /** "Always" is remembered for the agent that asks: it must be the one that works in this session. Which one `auto` has
   * chosen is known inside alone; the question names it. */
  function refuseOther(sessionId: string, agent: string): void {
    const own = sessions.get(sessionId).agent
    const named = sessionId === sessions.root.id ? [own, work.agent] : [own]
    if (!named.includes(agent) && !named.includes(autoAgent)) throw new Refused("questions of another agent")
  }

  /** Asks whether a program in the sandbox may reach a host. `--yes` is a yes. */
  async function askNetwork(url: string): Promise<boolean> {
    const { id: sessionId, agent } = sessions.get(sessions.root.id)
    if (asks === "once") allowed(url)
    if (asks === "once" || asks === "deny") return asks === "once"
    const needs = [{ permission: "network.fetch", target: url }]
    const title = `Allow a program in the sandbox to reach ${url}?`
    const said = {
      sessionId,
      messageId: "",
      callId: "",
      agent,
      agents: [agent],
      tool: "network",
      needs,
      title,
    }
    const { reply } = await ask({ ...said, onlyListeners: asks === undefined }, signal)
    return reply !== "reject"
  }

  async function elicit(args: unknown, until: AbortSignal) {
    const { sessionId, ...asking } = Elicit.parse(args)
    if (asks === "deny" || asks === "once") return { action: "decline" as const, by: "nobody" as const }
    if (sessionId !== undefined) sessions.get(sessionId)
    const resume = pause()
    return Elicitation.ask({ ...asking, sessionId: sessionId ?? sessions.root.id, signal: until }).finally(
      resume,
    )
  }

  /** The rights of a session as the parent's own records and files say, below those of the session that gave its task. */
  async function rightsOf(sessionId: string, agentId: string): Promise<Rights> {
    const session = sessions.get(sessionId)
    await AgentRegistry.load()
    const agent = AgentRegistry.get(agentId)
    const giver = session.taskOf && sessions.get(session.taskOf.sessionId)
    const parent = giver && (await rightsOf(giver.id, giver.agent))
    const { rules = [], preset, directories = [] } = work
    return createRights({ session, agent, directories, ...(parent ? { parent } : { rules, preset }) })
  }

  return Object.freeze({ ask, elicit, askNetwork, rightsOf })
}

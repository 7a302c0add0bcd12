// Checks attachments before a session is created or a model is asked. Files must exist and be readable. URLs are only
// checked against the rules, and fetched later, when the prompt runs.
import { resolve } from "node:path"
import { judgeStep, needsOf } from "#ability/call/judge-step.ts"
import { loadImage } from "#ability/image/load-image.ts"
import * as Permission from "#ability/permission/permission.ts"
import { builtin } from "#ability/tool/builtin-tools.ts"
import type { Context, Definition } from "#ability/tool/tool.ts"
import { isInline } from "#engine/queue/store-images.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import type * as SessionRecord from "#engine/record/session-record.ts"
import { chooseAgent } from "#engine/record/session-record.ts"
import type { Asks } from "#engine/rights/questions.ts"
import { createRights, type Rights } from "#engine/rights/rights.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { createId } from "#util/id.ts"
import { referenceTo } from "./find-references.ts"
import { readReference } from "./resolve-file.ts"

/** Decides which rules apply. `known` is the session that the prompt continues; the rest is chosen for this prompt. */
type Who = {
  known: SessionRecord.Info | undefined
  agent?: string | undefined
  mode?: SessionRecord.Info["mode"] | undefined
  rules: Permission.Rule[]
  asks: Asks
}
type Judge = { sessionId: string; rights: Rights; asks: Asks }
type Use = { tool: Definition; args: unknown; open?: (context: Context) => Promise<unknown> }

/** One line for each attachment that cannot be used. */
export async function checkAttachments(parts: PromptPart[], who: Who): Promise<string[]> {
  const { known, rules, asks } = who
  const agent = await chooseAgent(who.agent, known?.agent)
  const session = { id: known?.id ?? createId("sess"), mode: who.mode ?? known?.mode ?? "act" }
  const judge = { sessionId: session.id, rights: createRights({ session, agent, rules }), asks }
  const problems: string[] = []
  for (const part of parts) {
    const problem = await problemOf(part, judge).catch(errorText)
    if (problem) problems.push(`${nameOf(part)} cannot be attached: ${problem}`)
  }
  return problems
}

async function problemOf(part: PromptPart, { sessionId, rights, asks }: Judge): Promise<string | undefined> {
  const use = useOf(part, sessionId)
  if (!use) return undefined
  const context: Context = {
    sessionId,
    messageId: "",
    callId: "",
    signal: new AbortController().signal,
  }
  const { decide } = await rights.now()
  const step = { ...use, needs: needsOf(use.tool, use.args, context), context }
  const judged = await judgeStep(step, decide)
  const denied = judged.needs.find(({ action }) => action === "deny")
  if (denied) return reasonOf(Permission.sayDenied(use.tool.id, denied))
  const asked = judged.needs.filter(({ action }) => action === "ask")
  if (asked.length && asks === "deny") return reasonOf(Permission.sayNobody(use.tool.id, asked))
  // If a person must be asked, the attachment is opened later, after the reply.
  const { granted, grantedByPerson } = judged
  if (judged.action === "allow" || asks === "once")
    await use.open?.({ ...context, granted: asks === "once" ? grantedByPerson : granted })
  return undefined
}

/** The reason without the name of the tool: a person attached this, no tool was called. */
function reasonOf(refusal: string): string {
  return refusal.replace(/^"[\w-]+" was not run: /, "")
}

function useOf(part: PromptPart, sessionId: string): Use | undefined {
  if (part.type === "file_reference") {
    const { type, ...given } = part
    const data = { ...given, ...pathOf(part.path) }
    const base = { sessionId, parentId: null, branch: "main" }
    const message = Message.make({ ...base, type, data: { ...data, status: "pending" } })
    return { tool: builtin.read, args: data, open: (context) => readReference(message, async () => context) }
  }
  if (part.type !== "image" || isInline(part.source)) return undefined
  const { source } = part
  if (source.kind !== "file") {
    if (!/^https?:/i.test(source.value)) throw new Error("Only http and https addresses can be fetched.")
    return { tool: builtin.fetch, args: { url: source.value } }
  }
  const path = pathOf(source.value)
  return {
    tool: builtin.read,
    args: path,
    open: (context) => loadImage({ ...source, value: path.path }, context),
  }
}

/** Throws for a path that does not exist: outside the work tree, the person would otherwise be asked about it first. */
function pathOf(given: string): { path: string } {
  const { path } = referenceTo(given)
  if (statOf(resolve(Instance.directory, path)) === undefined)
    throw new Error(`${JSON.stringify(given)} does not exist or cannot be reached.`)
  return { path }
}

function nameOf(part: PromptPart): string {
  if (part.type === "image") return `--image ${part.source.value.slice(0, 200)}`
  return part.type === "file_reference" ? `--file ${part.path}` : part.type
}

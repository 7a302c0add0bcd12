// Prepares a command file for a prompt: its arguments, and which of its settings apply. Nothing runs yet. A file of a
// project that nobody has reviewed only gives its text.
import type * as Command from "#ability/command/command.ts"
import { fillTemplate } from "#ability/command/fill-template.ts"
import { checkModel, familyModel } from "#engine/model/choose-model.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import type { FilledCommand } from "#engine/run/run.ts"
import { errorText } from "#util/error.ts"

/** Throws for an agent that does not exist: another one could do more than the command wants. */
export async function fillCommand(command: Command.Info, given: string): Promise<FilledCommand> {
  const { name, refusal, rules, body } = command
  const { segments, problems } = fillTemplate(name, body, given)
  const hint = command.hint ? ` (${command.hint})` : ""
  const notes = problems.map((problem) => problem + hint)
  if (refusal !== undefined) {
    const ignored = ignoredIn(command, segments)
    if (ignored.length) notes.push(`/${name}: ignored: ${ignored.join(", ")}; ${refusal}`)
    const told = segments.map((one) => ("line" in one ? { text: `(not run: \`${one.line}\`)` } : one))
    return { name, segments: told, rules: [], notes, mode: planOf(command) }
  }
  return {
    name,
    segments,
    rules,
    notes,
    ...(await agentOf(command)),
    model: await modelOf(command, notes),
  }
}

function ignoredIn({ rules, model, agent }: Command.Info, segments: FilledCommand["segments"]): string[] {
  return [
    ...(rules.length ? ["allowed-tools"] : []),
    ...(model ? ["model"] : []),
    ...(agent ? ["agent"] : []),
    ...segments.flatMap((one) => ("line" in one ? [`!\`${one.line}\``] : [])),
  ]
}

/** `plan` narrows what the prompt may do. `act` is what a prompt does anyway; it never ends the plan mode of a session. */
function planOf({ mode }: Pick<Command.Info, "mode">): "plan" | undefined {
  return mode === "plan" ? "plan" : undefined
}

/** opencode's agents `build` and `plan` are our default agent and our plan mode. */
async function agentOf({ agent, mode }: Command.Info): Promise<Pick<FilledCommand, "agent" | "mode">> {
  if (agent === undefined) return { mode: planOf({ mode }) }
  try {
    return { agent: (await SessionRecord.chooseAgent(agent)).id, mode: planOf({ mode }) }
  } catch (error) {
    if (agent === "plan") return { mode: "plan" }
    if (agent === "build") return { mode: planOf({ mode }) }
    throw error
  }
}

/** A command of somebody else often names a model that is not reachable here. */
async function modelOf({ name, model }: Command.Info, notes: string[]): Promise<string | undefined> {
  if (model === undefined) return undefined
  try {
    const known = await familyModel(model)
    if (known === undefined) throw new Error("there is no key for anthropic")
    await checkModel(undefined, known)
    return known
  } catch (error) {
    notes.push(`/${name}: its model "${model}" is not used: ${errorText(error)}`)
    return undefined
  }
}

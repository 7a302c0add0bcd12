// Finds the unfinished plan of a session for the start of a prompt: after a compaction, a restart or a long
// conversation the model may no longer see it. Empty if the model still sees it.
import * as TodoList from "#ability/plan/todo-list.ts"
import { planId, planOf } from "#ability/plan/todo-plan.ts"
import { isList, planNodes } from "#engine/record/plan-nodes.ts"
import { section } from "#engine/run/fit-tokens.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { outputText } from "#knowledge/memory/tokens.ts"
import { wordsOf } from "#knowledge/memory/working.ts"
import type * as Message from "#knowledge/message/message.ts"
import { createRelationStore } from "#knowledge/relation/relation-store.ts"
import type { Note } from "./notes.ts"

const maxTokens = 600

/** Must be called when the session's messages are loaded. */
export async function findPlan(sessionId: string): Promise<Note[]> {
  const { messages, window } = Memory.shortTerm(sessionId)
  const store = createRelationStore({ initialNodes: await planNodes(sessionId, messages()) })
  const plan = store.get(planId)
  if (!plan || plan.context.status === "done" || store.size() < 2) return []
  const [title = "", ...lines] = store.toContext([planId]).split("\n")
  const [text = ""] = section(title, lines, maxTokens)
  if (isSeen(window(), { list: TodoList.describe(planOf(store.all())), text })) return []
  return [{ kind: "plan", name: plan.context.description, text }]
}

/** Whether the window shows the plan: in the tool's last result, or in front of a compacted history. */
function isSeen(window: readonly Message.Info[], { list, text }: { list: string; text: string }): boolean {
  const last = window.findLast(isList)
  if (last) return outputText(last.data) === list
  const [front] = window
  if (front?.type !== "text" || front.data.role !== "user") return false
  const words = wordsOf(front)
  return text.split("\n").every((line) => words.includes(line))
}

// The items of a task list, as models write them and events carry them.
import { z } from "zod"

/** Synonyms of other task lists that models use. */
const spelled = (value: unknown) => (value === "completed" || value === "complete" ? "done" : value)
const Status = z.preprocess(spelled, z.enum(["pending", "in_progress", "done"]))
/** A step of a plan says everything that another agent must know. */
const maxText = 2_000
const Text = z
  .string()
  .refine(isText, `expected 1 to ${maxText} characters, none of them a control character`)
const Name = z.string().refine(isName, "expected up to 40 letters, digits, dots, dashes or underscores")
/** Some models number their items. */
const numbered = (value: unknown) => (typeof value === "number" ? `${value}` : value)

export const Item = z.strictObject({
  text: Text,
  status: Status,
  id: z.preprocess(numbered, Name).optional(),
  after: z.array(z.preprocess(numbered, z.string())).optional(),
})
export type Item = z.infer<typeof Item>

export const Plan = z.object({ title: Text.optional(), todos: z.array(Item) })
export type Plan = z.infer<typeof Plan>
/** `replace`: these items replace the list. */
export type Change = Partial<Plan> & { replace?: boolean }

function isText(text: string): boolean {
  return text.trim() !== "" && text.length <= maxText && !/\p{Cc}/u.test(text)
}

function isName(id: string): boolean {
  return /^[\w.-]{1,40}$/.test(id)
}

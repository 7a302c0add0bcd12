// The schema of guards: rules over sequences of actions. Guards with a name of the list are ready-made; any other name is a
// guard of one's own.
import { z } from "zod"
import { about } from "#util/about.ts"
import { nearest } from "#util/nearest.ts"
import { fitsText, hasWildcard } from "#util/wildcard.ts"
import { permissions } from "./schema-parts.ts"

/** What guards know beside permissions: a write to a file that exists, and a look into a file with secrets. */
const known = [...permissions, "file.replace", "secret.read"] as const

/** A pattern that can never match is refused: its guard would guard nothing. */
const Patterns = z
  .union([z.string(), z.array(z.string()).min(1)], { error: "expected a pattern, or a list of patterns" })
  .check(({ value, issues }) => {
    for (const one of [value].flat()) {
      const message = patternProblem(one)
      if (message) issues.push({ code: "custom", message, input: value })
    }
  })

const Commands = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)], {
  error: "expected a command, or a list of commands",
})

const shared = {
  enabled: about("`false`: the guard is off.", z.boolean().optional(), true),
}

/** What every guard has, unless it is off. */
const needed = [
  ["block", "expected a pattern, or a list of patterns"],
  ["because", "expected a text that says why it blocks"],
] as const

/** A guard as plain data. Without `when` it blocks from the start, and never again after `until`. */
export const Guard = z
  .strictObject({
    ...shared,
    when: about(
      "Events after which it blocks: `edit`, `edit:src/**`, `bash.done:npm test*`. Without it: from the start.",
      Patterns.optional(),
    ),
    block: about("Actions that it blocks; `answer` is the final answer.", Patterns.optional()),
    until: about("Events that end the block. Without it: never.", Patterns.optional()),
    because: about("Why it blocks, for the model and for people.", z.string().min(1).optional()),
    each: about(
      "One guard for each `path` or each `target` (path, command, URL, agent) of the events.",
      z.enum(["path", "target"]).optional(),
    ),
  })
  .superRefine((guard, context) => {
    if (guard.enabled === false) return
    for (const [key, message] of needed)
      if (guard[key] === undefined) context.addIssue({ code: "custom", path: [key], message })
  })
export type Guard = z.infer<typeof Guard>

// A limit against hostile files: every guard is asked about every action.
const maxGuards = 500
export const Guards = z
  .object({
    "read-before-edit": about(
      "A file is read before it is edited or replaced.",
      z
        .strictObject({
          ...shared,
          paths: about("Files that it is about.", z.string().min(1).optional(), "**"),
        })
        .optional(),
    ),
    "tests-before-answer": about(
      "After an edit, the tests pass before the final answer.",
      z
        .strictObject({
          ...shared,
          command: about("Commands that are the tests; `*` matches any text.", Commands.optional()),
          paths: about("Files whose edits count.", z.string().min(1).optional(), "**"),
        })
        .optional(),
    ),
    "stories-before-answer": about(
      "After an edit of a component, its stories pass before the final answer.",
      z
        .strictObject({
          ...shared,
          paths: about(
            "Files whose edits count.",
            z.string().min(1).optional(),
            "**/*.ts, **/*.js, **/*.css and **/*.html",
          ),
        })
        .optional(),
    ),
    "approve-deploy": about(
      "A person approves each deploy, whatever the rules allow.",
      z
        .strictObject({
          ...shared,
          command: about("Commands that deploy.", Commands.optional()),
        })
        .optional(),
    ),
    "no-network-after-secret": about(
      "Nothing is sent to the network after a secret was read.",
      z
        .strictObject({
          ...shared,
          block: about("What counts as sending.", Patterns.optional()),
        })
        .optional(),
    ),
    "look-at-diff": about(
      "The model looks at the diff after some writes.",
      z
        .strictObject({
          ...shared,
          writes: about("Writes without a look.", z.number().int().positive().max(1_000).optional(), 5),
          look: about("What counts as a look.", Patterns.optional()),
        })
        .optional(),
    ),
    "no-repeats": about(
      "The same call is not made again and again.",
      z
        .strictObject({
          ...shared,
          times: about(
            "How often it may be made in a row.",
            z.number().int().positive().max(1_000).optional(),
            2,
          ),
        })
        .optional(),
    ),
    "plan-before-act": about(
      "The model writes a task list before it changes anything.",
      z.strictObject({ ...shared, act: about("What needs a plan.", Patterns.optional()) }).optional(),
    ),
    budget: about(
      "When the session has spent its budget, only the final answer is left.",
      z
        .strictObject({
          ...shared,
          tokens: about("Tokens of all requests and answers.", z.number().positive().optional()),
          cost: about("USD.", z.number().positive().optional()),
        })
        .optional(),
    ),
  })
  .catchall(Guard)
  .refine((guards) => Object.keys(guards).length <= maxGuards, {
    error: `too many guards; at most ${maxGuards} can be configured`,
  })
export type Guards = z.infer<typeof Guards>

/** A name, `.done` or `.failed` for a result, and after a colon what it is about. A guard in code may also name an event
 * that another one requests. */
export function patternProblem(pattern: string, isCode = false): string | undefined {
  const [, name = "", target] = /^([^:]*)(?::(.*))?$/s.exec(pattern) ?? []
  if (!/^[\w.*-]+$/.test(name)) return `${JSON.stringify(pattern)} does not begin with the name of an event`
  if (target === "") return `${JSON.stringify(pattern)} has nothing after its colon`
  const permission = name.replace(/\.(done|failed)$/, "")
  if (!permission.includes(".") || known.some((one) => fitsText(permission, one))) return undefined
  const near = hasWildcard(permission) ? undefined : nearest(permission, known)
  if (isCode && !near) return undefined
  return `${JSON.stringify(permission)} does not exist; ${near ? `did you mean "${near}"?` : `there are ${known.join(", ")}`}`
}

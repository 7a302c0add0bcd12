// Adding lines at the end of a file: it is read first, and its last lines are replaced by themselves and the new ones.
import { type Clause, slice } from "../clause.ts"
import { isLiteral } from "../literal.ts"
import { isFile } from "../recognize.ts"
import { isMissing, type Made } from "../results.ts"
import { type Call, type Proposal, says } from "../skill.ts"

const asks = /^(?:append|add|insert|put)\b/
const toEnd = /\b(?:line|end|bottom|entry)\b/

export function append(clause: Clause): Proposal | undefined {
  if (
    !says(clause, asks) ||
    says(clause, /\b(?:file (?:called|named)|new file|a file|after|before|above|below|todos?|to-do|tasks?)\b/)
  )
    return undefined
  const { tokens, words, verb } = clause
  const at = tokens.findIndex(
    (token, i) =>
      token.kind !== "mark" &&
      isFile(token.text) &&
      /^(?:to|into|in|of|the|file|on)$/.test(words[i - 1] ?? ""),
  )
  if (at < 2 || (verb === "put" && !says(clause, toEnd))) return undefined
  const path = tokens[at]!.text
  const quote = clause.quotes.find(({ text }) => text !== path)
  const end = words.findIndex((word, i) => i > 0 && /^(?:to|into|at|in|on)$/.test(word))
  const bare = slice(clause, 1, end).replace(/^(?:the |a |an )?(?:lines?|text|word|entry)\s+/i, "")
  const text = quote?.text ?? (end > 0 && isLiteral(slice(clause, 1, end), path) ? bare : "")
  if (!text) return undefined
  return {
    score: 6,
    calls: [{ tool: "read", args: { path } }],
    after: {
      pick: "own",
      tool: "edit",
      otherwise: `the end of ${path} cannot be named, so nothing was added`,
      make: (_, [found]) => (found ? change(path, text, found) : []),
    },
  }
}

function change(path: string, text: string, found: Made): Call[] {
  if (isMissing(found) || found.output === "(empty file)")
    return [{ tool: "write", args: { path, content: `${text.replace(/\n$/, "")}\n` } }]
  const lines = found.output
    .split("\n")
    .flatMap((line) => (/^\d+\t/.test(line) ? [line.slice(line.indexOf("\t") + 1)] : []))
  if (found.isError || /\[.*(?:lines in all|go on with startLine)/.test(found.output)) return []
  const whole = `\n${lines.join("\n")}\n`
  for (let count = 1; count <= lines.length && count <= 20; count++) {
    const oldText = lines.slice(-count).join("\n")
    if (!oldText.trim() || whole.split(oldText).length !== 2) continue
    return [
      {
        tool: "edit",
        args: { path, edits: [{ oldText, newText: `${oldText}\n${text.replace(/\n$/, "")}` }] },
      },
    ]
  }
  return []
}

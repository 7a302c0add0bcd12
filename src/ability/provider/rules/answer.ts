// What is said at the end: the results themselves, shortly, and honestly what was not done.
import type { Outcome } from "./next-move.ts"
import { countIn, filesIn, isMissing, type Made } from "./results.ts"
import { configure, shortAbilities } from "./talk.ts"
import type { Proposal } from "./skill.ts"

const maxLines = 300

export function answer(outcomes: Outcome[]): string {
  const done = outcomes.filter(({ step }) => step.proposal)
  if (!done.length) return `My rules do not cover this.\n${shortAbilities}`
  const parts = outcomes.flatMap(tell)
  const hasGap = outcomes.some(({ step }) => !step.proposal || step.proposal.refusal)
  return [...parts, ...(hasGap ? [configure] : [])].join("\n\n")
}

function tell({ step, made, picked, reason }: Outcome): string[] {
  const { asked, proposal } = step
  if (!proposal) return [`I cannot do this: ${asked}`]
  const { after } = proposal
  // What was only looked at on the way is not what was asked for.
  const isOnTheWay = ({ tool, isError }: Made) =>
    after !== undefined &&
    (after.tool === "read" || after.tool === "ls"
      ? tool === "ls" && picked !== undefined
      : tool === "read" && !isError)
  const shown = made.filter((one) => !isOnTheWay(one) && !(after?.tool === "write" && isMissing(one)))
  return [
    ...(shown.length ? shown : []).map((one) => tellCall(one, proposal)),
    ...(picked?.length && !made.some(({ tool }) => tool === "read" || tool === "edit")
      ? [`${picked.join("\n")}`]
      : []),
    ...(reason ? [`Not done (${asked}): ${reason}.`] : []),
    ...(proposal.refusal ? [`${proposal.refusal}`] : []),
  ]
}

function tellCall(made: Made, { count, last }: Proposal): string {
  const { tool, args, output, isError } = made
  if (isError) return `${tool} ${shortly(args)} did not work: ${output}`
  if (count) return counted(made, count)
  if (last !== undefined && /; go on with startLine \d/.test(output.slice(-200)))
    return `The end of ${args.path} is too far down for me: run \`tail -n ${last} ${args.path}\``
  if (tool === "read") return `${args.path}:\n${bound(plainLines(output), last)}`
  if (tool === "ls") return `${args.path ?? "."}:\n${bound(output.split("\n"))}`
  if (tool === "glob" && !filesIn(made).length) return output
  if (tool === "glob") return `${plural(filesIn(made).length, "file")}:\n${bound(output.split("\n"))}`
  if (tool === "grep") return bound(joined(output))
  return bound(output.split("\n")) || `${tool} is done.`
}

function counted(made: Made, count: NonNullable<Proposal["count"]>): string {
  const number = countIn(made, count)
  const where = typeof made.args.path === "string" ? ` in ${made.args.path}` : ""
  const what = made.tool === "ls" ? "entry" : count.replace(/s$/, "").replace("matche", "match")
  const head = `${plural(number, what)}${where}`
  const rest =
    count === "lines" || /^0$/.test(String(number))
      ? ""
      : `\n${bound(made.tool === "grep" ? joined(made.output) : made.output.split("\n"))}`
  return `${head}${rest}`
}

function plural(number: number | string, noun: string): string {
  if (String(number) === "1") return `1 ${noun}`
  return `${number} ${noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : noun.endsWith("ch") ? `${noun}es` : `${noun}s`}`
}

/** Without the numbers, so that what is shown is what is in the file. */
function plainLines(output: string): string[] {
  return output.split("\n").map((line) => line.replace(/^\d+\t/, ""))
}

/** `file:12: text` for each match. */
function joined(output: string): string[] {
  let file = ""
  return output.split("\n").flatMap((line) => {
    const match = /^(\d+)([:-])(.*)$/s.exec(line)
    if (match)
      return [`${file}${file && match[2]}${match[1]}${match[2]}${match[2] === ":" ? " " : ""}${match[3]}`]
    if (!line || /^\[.*\]$|^--$|^No match/.test(line)) return line ? [line] : []
    file = line
    return []
  })
}

function bound(lines: string[], last?: number): string {
  if (last !== undefined) {
    const text = lines.filter((line, i) => i < lines.length - 1 || !/^\[.*\]$/.test(line))
    return text.slice(-last).join("\n")
  }
  if (lines.length <= maxLines) return lines.join("\n")
  return `${lines.slice(0, maxLines).join("\n")}\n… ${lines.length - maxLines} more lines`
}

function shortly(args: Made["args"]): string {
  const { command, path, url, pattern } = args
  return String(command ?? url ?? path ?? pattern ?? "").slice(0, 100)
}

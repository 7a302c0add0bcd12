// Changes of files. Every rule needs the literal text and the file; a request that only describes the change is refused.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { match } from "#ability/provider/rules/words/match.ts"
import { insert, replace } from "./edit.ts"
import { type Call, isMissing, type Proposal, run } from "./proposal.ts"

export function change(clause: Clause): Proposal | undefined {
  return replace(clause) ?? insert(clause) ?? write(clause) ?? remove(clause)
}

const makes = "create|make|add|start|generate|write|new|produce|touch"
const saves = "write|save|put|store|jot|jot_down|insert|echo|print|output|overwrite"
const name = "$new* <file:$file>"

function write(clause: Clause): Proposal | undefined {
  const given = match(
    clause,
    `${saves} $content* <text:Q> to|into|in|as|inside|to_a|over ${name}`,
    `${saves} $content* to|into|in|as|over? ${name} : \n* <text:Q>`,
    `${saves} $content* \n* <text:Q> \n* to|into|in|as ${name}`,
    `${makes}|${saves} ${name} $holds|and|: $holds* $content* \n* <text:Q> in_it|inside|inside_it?`,
  )
  if (given) return writing(clause, given.get("file")!, given.get("text")!)
  const tail =
    match(
      clause,
      `${saves} $content* to|into|in|as ${name} : \n* <text>`,
      `${makes}|${saves} ${name} : \n* <text>`,
      `${makes}|${saves} ${name} $holds $content* : \n* <text>`,
      `${makes}|${saves} ${name} $holds $a? following? content|contents|text|line|word|words <text>`,
    ) ?? match(clause, `${makes} ${name} containing|saying <text:\\w>`)
  if (tail) return writing(clause, tail.get("file")!, tail.rest("text"))
  const empty =
    match(clause, `${makes} ${name} in|inside|under $a? <folder:D> folder|directory?`) ??
    match(clause, `${makes} ${name}`)
  if (!empty || !/\b(?:file|empty|blank)\b|^touch\b/.test(clause.shape)) return undefined
  const folder = empty.get("folder")?.replace(/\/+$/, "")
  return writing(clause, folder ? `${folder}/${empty.get("file")}` : empty.get("file")!, "")
}

/** "Create" means a new file; "write" or "save" replaces the content. */
function writing({ verb }: Clause, path: string, content: string): Proposal {
  const call: Call = { tool: "write", args: { path, content } }
  if (/^(?:write|save|store|overwrite|echo|print|output)$/.test(verb)) return { calls: [call] }
  return {
    calls: [{ tool: "read", args: { path } }],
    after: {
      pick: "own",
      tool: "write",
      make: (_, [found]) => (isMissing(found) ? [call] : []),
      otherwise: `${path} is already there. To replace all of it: write '…' to ${path}; to add to it: append '…' to ${path}`,
    },
  }
}

/** Deletes, moves and copies named files by a command, for which permission is asked. */
function remove(clause: Clause): Proposal | undefined {
  const plain = clause.files.every((file) => /^[\w.@/+ ~-]+$/.test(file) && !file.startsWith("-"))
  if (!plain || !clause.files.length) return mkdir(clause)
  if (match(clause, "delete|remove|rm -f|-rf|-r? $a|both* file|files? $file and|,|&|$file|the|file*"))
    return run(`rm ${clause.files.map(quoted).join(" ")}`)
  const moved = match(
    clause,
    "<verb:rename|move|mv|copy|cp> $a? file? <from:F> to|into|as|->? $a? file? <to:F>",
  )
  if (!moved) return undefined
  const [from, to] = [quoted(moved.get("from")!), quoted(moved.get("to")!)]
  return run(`test ! -e ${to} && ${/^c/.test(moved.get("verb")!) ? "cp" : "mv"} ${from} ${to}`)
}

function mkdir(clause: Clause): Proposal | undefined {
  const made = match(clause, "create|make|add|new $new* folder|directory|dir called|named? <folder:D|Q>")
  const folder = made?.get("folder")
  return folder && /^[\w.@/+ ~-]+$/.test(folder) ? run(`mkdir -p ${quoted(folder)}`) : undefined
}

export function quoted(path: string): string {
  return /^[\w.@/+~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** What the person must add to a change that is only described. */
export function needs(clause: Clause): string {
  const file = clause.files[0] ?? "FILE"
  if (/^(?:delete|remove|erase|rm|trash|drop|wipe|purge|clean|clear)/.test(clause.verb))
    return `I delete only files that are named: delete ${clause.files[0] ?? "notes.txt"}`
  return [
    "This leaves open what to write, and I change a file only when the request says it literally. I am the offline model, without a language model. What I can do:",
    `  replace 'old text' with 'new text' in ${file}`,
    `  add the line 'new text' at the top of ${file}   (or: at the end of, or: after 'text' in)`,
    `  write 'all of its text' to ${file}`,
  ].join("\n")
}

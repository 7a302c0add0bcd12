// Finds values that bash expands a second time, as a list of words: `declare -a x="$y"` runs a substitution in y, and
// so does `declare x="$y"` if x is already a list.
import type { SyntaxNode } from "unbash"

type Node<T extends SyntaxNode["type"]> = Extract<SyntaxNode, { type: T }>
type Argument = Node<"Command">["args"][number]

const declaring = new Set("declare typeset local readonly export".split(" "))
const always = new Set(["mapfile", "readarray"])
/** Lists of the shell itself. */
const lists = /^(BASH_\w+|DIRSTACK|FUNCNAME|GROUPS|MAPFILE|COPROC|PIPESTATUS|COMP\w+)$/
const given = /^([A-Za-z_]\w*)(\[.*\])?\+?=/s

export function createDeclaredLists() {
  /** Which variables are lists, wherever in the line they become one. */
  const names = new Set<string>()
  /** Which variables are declared with a value that may contain a substitution. */
  const declared = new Set<string>()

  const visit = (program: string, args: readonly Argument[]): void => {
    if (!declaring.has(program) && !always.has(program) && program !== "read") return
    const texts = args.map((arg) => (arg.type === "Word" ? arg.value : arg.text))
    const makesLists = always.has(program) || texts.some((text) => /^[-+]\w*[aA]/.test(text))
    for (const [i, arg] of args.entries()) {
      const name = /^[A-Za-z_]\w*/.exec(texts[i]!)?.[0]
      if (name === undefined) continue
      if (makesLists) names.add(name)
      if (declaring.has(program) && mayHide(arg, texts[i]!)) declared.add(name)
    }
  }

  return Object.freeze({
    add: (name: string) => names.add(name),
    visit,
    /** Whether a value may be expanded as a list. If the line passes texts to the shell, any name may be one. */
    mayExpand: (rereads: boolean) =>
      [...declared].some((name) => rereads || names.has(name) || lists.test(name)),
  })
}

/** Whether the value may contain a substitution. A list in parentheses is checked by itself. */
function mayHide(arg: Argument, text: string): boolean {
  if (arg.type === "Assignment" && arg.value.type === "ArrayValue") return false
  return given.test(text) && /[($`]/.test(arg.text)
}

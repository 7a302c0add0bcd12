// What a script does to a page: which elements it listens to, and whether it shows something. Code that cannot be followed
// counts as listening to everything, so that the analysis does not report what it cannot know.
import { isNode, type Node, nameOf, stringOf } from "./node.ts"

export type PageFacts = {
  /** Selectors of elements that have listeners. */
  selectors: Set<string>
  /** It listens to elements that are not named, such as the whole document. */
  listensToAny: boolean
  changesPage: boolean
  /** Names of functions and variables of this file. */
  declared: Set<string>
  /** Custom properties that it sets. */
  tokens: Set<string>
}

const finders = new Set([
  "querySelector",
  "querySelectorAll",
  "closest",
  "getElementById",
  "getElementsByClassName",
])
const changed = new Set(
  (
    "textContent innerText innerHTML outerHTML value hidden className disabled checked selected open src href title cssText " +
    "indeterminate location scrollTop ariaPressed ariaExpanded ariaChecked ariaSelected"
  ).split(" "),
)
const changers = new Set(
  (
    "setAttribute toggleAttribute removeAttribute append appendChild prepend replaceChildren replaceWith replaceChild before " +
    "after insertAdjacentHTML insertAdjacentElement insertAdjacentText insertBefore showModal show close showPopover " +
    "hidePopover togglePopover setProperty requestUpdate setState dispatchEvent alert confirm prompt assign pushState render " +
    "focus animate insert attr trigger"
  ).split(" "),
)

export function createPageFacts() {
  const facts: PageFacts = {
    selectors: new Set(),
    listensToAny: false,
    changesPage: false,
    declared: new Set(),
    tokens: new Set(),
  }
  const found = new Map<string, string>()
  return { facts, read }

  function read(node: Node): void {
    if (node.type === "StringLiteral" && /^--[\w-]+$/.test(node.value as string))
      facts.tokens.add(node.value as string)
    if (node.type === "FunctionDeclaration") facts.declared.add(nameOf(node.id))
    if (node.type === "VariableDeclarator") declare(node.id, node.init)
    if (node.type === "ForOfStatement" && isNode(node.left) && node.left.type === "VariableDeclaration")
      declare((node.left.declarations as Node[])[0]?.id, node.right)
    if (node.type === "AssignmentExpression") assign(node.left)
    if (node.type === "CallExpression" || node.type === "OptionalCallExpression") call(node)
  }

  function declare(id: unknown, value: unknown): void {
    const selector = selectorOf(value)
    if (selector !== undefined) found.set(nameOf(id), selector)
    if (isNode(value) && /Function/.test(value.type)) facts.declared.add(nameOf(id))
  }

  function assign(left: unknown): void {
    if (!isMember(left)) return
    const name = nameOf(left.property)
    if (/^on[a-z]+$/.test(name)) listen(left.object)
    const owner = isMember(left.object) ? nameOf(left.object.property) : ""
    if (changed.has(name) || owner === "style" || owner === "dataset") facts.changesPage = true
  }

  function call({ callee }: Node): void {
    const name = isMember(callee) ? nameOf(callee.property) : nameOf(callee)
    if (name === "addEventListener") listen(isMember(callee) ? callee.object : undefined)
    const owner = isMember(callee) && isMember(callee.object) ? nameOf(callee.object.property) : ""
    if (changers.has(name) || owner === "classList") facts.changesPage = true
  }

  function listen(target: unknown): void {
    const selector = selectorOf(target) ?? found.get(nameOf(target))
    if (selector === undefined) facts.listensToAny = true
    else facts.selectors.add(selector)
  }
}

/** Of `x.querySelector("…")` and the like. */
function selectorOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  // `querySelector("…")!` and `querySelector("…") as HTMLElement`.
  if (/^TS(NonNull|As|Satisfies)Expression$/.test(node.type)) return selectorOf(node.expression)
  if (!/^(Optional)?CallExpression$/.test(node.type) || !isMember(node.callee)) return undefined
  const name = nameOf(node.callee.property)
  const text = finders.has(name) ? stringOf((node.arguments as unknown[])[0]) : undefined
  if (text === undefined) return undefined
  return name === "getElementById" ? `#${text}` : name === "getElementsByClassName" ? `.${text}` : text
}

function isMember(node: unknown): node is Node {
  return isNode(node) && /^(Optional)?MemberExpression$/.test(node.type)
}

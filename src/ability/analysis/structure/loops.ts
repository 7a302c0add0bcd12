// Finds out whether the loop of a control closes: its action has a handler, and something that a person can see answers.
import { attributeOf, closest, type Element, hole, isElement, nodesIn } from "#ability/analysis/parse/html.ts"
import { isHandler } from "#ability/analysis/parse/is-handler.ts"
import type { Lever, Loop } from "#ability/analysis/term/vocabulary.ts"
import { matchesAny } from "./match-selector.ts"
import type { Template } from "./structure.ts"

const states = ["aria-pressed", "aria-expanded", "aria-checked", "aria-selected", "aria-busy", "aria-current"]
/** What a browser does by itself. */
const natives = ["popovertarget", "commandfor", "formaction"]

/** Returns the loop of a control; undefined for a control that is disabled. */
export function createLoops({ document, facts, source }: Template) {
  const hasMessage = document.elements.some(isLive)
  const dynamicTexts = countDynamic(document.root)
  const owners = new Map<Element, Element | undefined>()
  return loopOf

  function loopOf(element: Element, lever: Lever): Loop | undefined {
    if (element.attributes.has("disabled") || attributeOf(element, "aria-disabled") === "true")
      return undefined
    const action = lever.kind === "button" ? "click" : lever.kind === "disclosure" ? "toggle" : "input"
    const loop = { at: element.at, name: lever.name, action, hasHandler: true }
    // These show their own state.
    if (lever.kind !== "button" && isNative(element)) return { ...loop, response: "state" }
    const form = formOf(element)
    const isSubmit = form !== undefined && submits(element)
    const owner = ownerOf(element) ?? (isSubmit ? ownerOf(form) : undefined)
    if (isSubmit && !owner) return { ...loop, response: "navigation" }
    if (form && attributeOf(element, "type") === "reset") return { ...loop, response: "state" }
    if (natives.some((name) => element.attributes.has(name))) return { ...loop, response: "state" }
    if (owner || facts.listensToAny) return { ...loop, response: responseOf(element, owner) }
    const isInside = closest(element, ({ name }) => name === "a" || name === "summary" || name.includes("-"))
    return { ...loop, hasHandler: isInside !== undefined, response: isInside && "outside" }
  }

  function responseOf(element: Element, owner: Element | undefined): Loop["response"] {
    if (element.attributes.has("aria-controls") || states.some((name) => element.attributes.has(name)))
      return "state"
    if (hasMessage) return "message"
    if (facts.changesPage) return "state"
    if (owner?.isOpenEnded || (owner && isPassed(owner))) return "outside"
    return dynamicTexts > countDynamic(element) ? "state" : undefined
  }

  /** The element that handles the events of another one: that one, or one around it. */
  function ownerOf(element: Element): Element | undefined {
    if (owners.has(element)) return owners.get(element)
    const isOwner = handlerOf(element) || element.isOpenEnded || matchesAny(element, facts.selectors)
    const owner = isOwner ? element : element.parent && ownerOf(element.parent)
    owners.set(element, owner)
    return owner
  }

  /** The handler is an expression that names nothing of this file: a parameter or an import. */
  function isPassed(owner: Element): boolean {
    const handler = handlerOf(owner)
    if (!handler?.value.includes(hole)) return false
    const code = source.slice(handler.valueAt, handler.valueAt + Math.min(handler.value.length, 1_000))
    const names = code.match(/[A-Za-z_$][\w$]*/g) ?? []
    return !code.includes("=>") && !names.some((name) => facts.declared.has(name))
  }

  function formOf(element: Element): Element | undefined {
    const id = attributeOf(element, "form")
    return id ? document.ids.get(id) : closest(element, ({ name }) => name === "form")
  }
}

function isLive(element: Element): boolean {
  const live = attributeOf(element, "aria-live")
  const role = attributeOf(element, "role") ?? ""
  return (
    element.name === "output" || /^(status|alert|log)$/.test(role) || (live !== undefined && live !== "off")
  )
}

/** Texts that come from an expression. */
function countDynamic(element: Element): number {
  let count = 0
  for (const node of nodesIn(element)) if (!isElement(node) && node.text.includes(hole)) count++
  return count
}

function handlerOf({ attributes }: Element) {
  for (const attribute of attributes.values()) if (isHandler(attribute.name)) return attribute
  return undefined
}

function isNative({ name }: Element): boolean {
  return /^(input|select|textarea|summary)$/.test(name)
}

function submits(element: Element): boolean {
  const type = attributeOf(element, "type")?.toLowerCase()
  return element.name === "button" ? !type || type === "submit" : type === "submit" || type === "image"
}

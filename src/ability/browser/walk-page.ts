// Runs inside a page: turns what a person would see into lines of text, with a reference for each link, button and field. It
// uses nothing outside of its own function, because only its source is sent to the page.

/** As much of the DOM as is used here. */
type Node = {
  nodeType: number
  nodeName: string
  nodeValue: string | null
  textContent: string | null
  childNodes: ArrayLike<Node>
}
type Element = Node & {
  isConnected: boolean
  isContentEditable?: boolean
  shadowRoot: Node | null
  ownerDocument: { getElementById(id: string): Element | null }
  labels?: ArrayLike<Element> | null
  options?: ArrayLike<{ label: string; selected: boolean }>
  href?: unknown
  src?: string
  type?: string
  value?: string
  checked?: boolean
  disabled?: boolean
  required?: boolean
  getAttribute(name: string): string | null
  hasAttribute(name: string): boolean
  querySelector(selector: string): Element | null
}
type Page = {
  document: { body: Element | null; title: string }
  getComputedStyle(element: Element): { display: string; visibility: string }
}

/** The references of one document. They stay the same as long as the document does. */
export type Refs = { ids: WeakMap<object, number>; elements: Map<number, Element>; next: number }
export type Walked = { text: string; isCut: boolean; next: number }
export type Limits = { characters: number; nodes: number; refs: number }

export function walkPage(refs: Refs, limits: Limits & { next: number }): Walked {
  const page = globalThis as unknown as Page
  const roles =
    /^(button|link|checkbox|radio|switch|tab|menuitem|menuitemcheckbox|menuitemradio|option|textbox|searchbox|combobox|spinbutton|slider)$/
  const skipped = /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|SVG|HEAD|OBJECT|CANVAS|AUDIO|VIDEO)$/i
  const lines: string[] = []
  let line = ""
  let size = 0
  let nodes = 0
  let isCut = false
  refs.next = Math.max(refs.next, limits.next)

  const short = (text: string | null | undefined, length: number) => {
    const plain = (text ?? "")
      .slice(0, length * 4)
      .replace(/\s+/g, " ")
      .trim()
    return plain.length > length ? `${plain.slice(0, length)}…` : plain
  }

  const endLine = () => {
    const done = line.replace(/[ \t]+/g, " ").trim()
    line = ""
    if (!done) return
    lines.push(done)
    size += done.length + 1
  }

  const refOf = (element: Element): string => {
    const known = refs.ids.get(element)
    if (known !== undefined) return `e${known}`
    if (refs.elements.size >= limits.refs) return "no reference,"
    const id = refs.next++
    refs.ids.set(element, id)
    refs.elements.set(id, element)
    return `e${id}`
  }

  const nameOf = (element: Element): string => {
    const ids = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean)
    const by = ids.map((id) => element.ownerDocument.getElementById(id)?.textContent ?? "").join(" ")
    const labels = Array.from(element.labels ?? [], (label) => label.textContent ?? "").join(" ")
    const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(element.nodeName)
    const own = isField ? "" : element.textContent
    const isButton = /^(submit|button|reset|image)$/.test(element.type ?? "") && element.nodeName === "INPUT"
    const said = [element.getAttribute("aria-label"), by, labels, isButton ? element.value : own]
    const other = ["alt", "placeholder", "title", "name"].map((name) => element.getAttribute(name))
    const image = element.querySelector("img[alt]")?.getAttribute("alt")
    return short(
      [...said, image, ...other].find((text) => text?.trim()) ?? (isButton ? element.type : ""),
      150,
    )
  }

  const roleOf = (element: Element): string | undefined => {
    const role = element.getAttribute("role")?.trim().split(/\s+/)[0] ?? ""
    if (roles.test(role)) return role
    const name = element.nodeName
    if (name === "A") return element.hasAttribute("href") ? "link" : undefined
    if (name === "BUTTON" || name === "SUMMARY") return "button"
    if (name === "TEXTAREA") return "textbox"
    if (name === "SELECT") return "select"
    if (name === "INPUT") {
      const type = element.type ?? "text"
      if (type === "hidden") return undefined
      if (/^(submit|button|reset|image)$/.test(type)) return "button"
      return /^(text|search)$/.test(type) ? "textbox" : type
    }
    if (element.isContentEditable && element.hasAttribute("contenteditable")) return "textbox"
    return element.hasAttribute("onclick") ? "clickable" : undefined
  }

  const stateOf = (element: Element, role: string): string => {
    const parts: string[] = []
    if (role === "link" && typeof element.href === "string") parts.push(short(element.href, 300))
    if (element.nodeName === "SELECT") {
      const options = Array.from(element.options ?? [])
      const shown = options.slice(0, 30).map(({ label }) => JSON.stringify(short(label, 60)))
      const chosen = options
        .filter(({ selected }) => selected)
        .map(({ label }) => JSON.stringify(short(label, 60)))
      parts.push(
        `= ${chosen.join(", ") || "nothing"} of ${shown.join(", ")}${options.length > 30 ? ", …" : ""}`,
      )
    } else if (element.nodeName === "INPUT" || element.nodeName === "TEXTAREA") {
      const isValue = !/^(button|checkbox|radio|file)$/.test(role) && element.value
      if (isValue)
        parts.push(`= ${role === "password" ? '"•••"' : JSON.stringify(short(element.value, 200))}`)
    }
    if (element.checked || element.getAttribute("aria-checked") === "true") parts.push("checked")
    if (element.disabled || element.getAttribute("aria-disabled") === "true") parts.push("disabled")
    if (element.required) parts.push("required")
    return parts.length ? ` ${parts.join(" ")}` : ""
  }

  const isBlock = (display: string) => !/^(inline|contents|ruby|table-cell)/.test(display)

  /** With a list of its own instead of recursion: pages may be nested too deeply for the stack. */
  const stack: (Node | string)[] = page.document.body ? [page.document.body] : []
  while (stack.length) {
    const node = stack.pop()!
    if (typeof node === "string") {
      if (node === "\n") endLine()
      else line += node
      continue
    }
    if (++nodes > limits.nodes || size + line.length > limits.characters) {
      isCut = true
      break
    }
    if (node.nodeType === 3) {
      line += (node.nodeValue ?? "").slice(0, limits.characters).replace(/\s+/g, " ")
      continue
    }
    if (node.nodeType === 11) {
      for (let at = node.childNodes.length - 1; at >= 0; at--) stack.push(node.childNodes[at]!)
      continue
    }
    if (node.nodeType !== 1 || skipped.test(node.nodeName)) continue
    const element = node as Element
    const { display, visibility } = page.getComputedStyle(element)
    if (display === "none" || element.getAttribute("aria-hidden") === "true") continue
    if (isBlock(display)) {
      endLine()
      stack.push("\n")
    }
    const role = visibility === "visible" ? roleOf(element) : undefined
    if (role) {
      line += ` [${refOf(element)} ${role} ${JSON.stringify(nameOf(element))}${stateOf(element, role)}] `
      continue
    }
    if (node.nodeName === "BR") endLine()
    if (node.nodeName === "IMG" && element.getAttribute("alt"))
      line += ` [image ${JSON.stringify(short(element.getAttribute("alt"), 150))}] `
    if (node.nodeName === "IFRAME") line += ` [frame ${JSON.stringify(short(element.src, 200))}] `
    const heading = /^H([1-6])$/.exec(node.nodeName)
    if (heading) line += `${"#".repeat(Number(heading[1]))} `
    if (node.nodeName === "LI") line += "- "
    if (/^(TD|TH)$/.test(node.nodeName)) stack.push(" | ")
    if (visibility !== "visible" && !element.querySelector("*")) continue
    const children = (element.shadowRoot ?? element).childNodes
    // More cannot be visited anyway.
    for (let at = Math.min(children.length, limits.nodes) - 1; at >= 0; at--) stack.push(children[at]!)
  }
  endLine()
  const text = lines.join("\n")
  return {
    text: text.slice(0, limits.characters),
    isCut: isCut || text.length > limits.characters,
    next: refs.next,
  }
}

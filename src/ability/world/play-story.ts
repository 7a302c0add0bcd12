// Runs inside a page: lists the stories of a module, renders one and plays it. Each exported function uses nothing outside of
// itself, because only its source is sent to the page.
import type { Assertion, Component, DomElement, Parameters, Play, Story } from "./story.ts"

/** As much of the DOM as is used here. */
type Node = { childNodes: ArrayLike<Node>; nodeType: number }
type Element = DomElement &
  Node & {
    children: ArrayLike<Element>
    shadowRoot: Element | null
    hasAttribute(name: string): boolean
    append(node: unknown): void
    setHTMLUnsafe(html: string): void
    dispatchEvent(event: unknown): boolean
  }
type EventClass = new (type: string, init: object) => unknown
type Axe = {
  run(
    root: unknown,
    options: object,
  ): Promise<{ violations: { id: string; impact: string; help: string; nodes: { target: unknown[] }[] }[] }>
}
type Page = {
  document: { body: Element; createElement(name: string): Element }
  HTMLElement: { prototype: object }
  customElements: { getName(element: unknown): string | null; define(name: string, element: unknown): void }
  requestAnimationFrame(work: () => void): void
  axe?: Axe
  /** `findViolations`, which is added to every page. */
  vitaminViolations(): Promise<Violation[]>
} & Record<string, EventClass | undefined>

export type Listed = { name: string; intent: string; parameters: Parameters }
export type Violation = { id: string; impact: string; help: string; targets: string[] }
export type Played = {
  assertions: { text: string; isPassed: boolean }[]
  /** Why the story failed. */
  error?: { message: string; stack: string }
}

/** The exports of a module that are stories, in the order of their names. */
export async function listStories(module: string): Promise<Listed[]> {
  const exported = (await import(module)) as Record<string, Story>
  return Object.entries(exported).flatMap(([name, story]) => {
    if (typeof story !== "object" || story === null || typeof story.intent !== "string") return []
    const { timeout, viewport, accessibility } = story.parameters ?? {}
    const parameters = {
      ...(typeof timeout === "number" ? { timeout } : {}),
      ...(viewport ? { viewport: { width: Number(viewport.width), height: Number(viewport.height) } } : {}),
      ...(accessibility === false ? { accessibility } : {}),
    }
    return [{ name, intent: story.intent.slice(0, 500), parameters }]
  })
}

/** What axe-core, which is loaded by a function, finds against WCAG 2.2, level A and AA. */
export async function findViolations(load: () => void): Promise<Violation[]> {
  const page = globalThis as unknown as Page
  if (!page.document.body) throw new Error("The document has no body any more")
  if (!page.axe) load()
  const { violations } = await page.axe!.run(page.document.body, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    resultTypes: ["violations"],
  })
  return violations.slice(0, 50).map(({ id, impact, help, nodes }) => ({
    id,
    impact: impact ?? "unknown",
    help,
    targets: nodes.slice(0, 5).map(({ target }) => target.join(" ").slice(0, 200)),
  }))
}

/** `noAxe`: why accessibility cannot be checked. */
export async function playStory(given: {
  module: string
  name: string
  noAxe: string | undefined
}): Promise<Played> {
  const page = globalThis as unknown as Page
  const assertions: Played["assertions"] = []
  const limits = { find: 2_000, tick: 20, assertions: 1_000 }

  const show = (value: unknown): string => {
    try {
      return (JSON.stringify(value) ?? String(value)).slice(0, 300)
    } catch {
      return String(value).slice(0, 300)
    }
  }

  const note = (text: string, isPassed: boolean) => {
    if (assertions.length < limits.assertions) assertions.push({ text: text.slice(0, 500), isPassed })
  }

  const isSame = (one: unknown, other: unknown): boolean => {
    if (Object.is(one, other)) return true
    if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false
    if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
    if (one instanceof Date) return one.getTime() === (other as Date).getTime()
    if (one instanceof Map || one instanceof Set) return isSame([...one], [...(other as Iterable<unknown>)])
    const [keys, others] = [Object.keys(one), Object.keys(other)]
    const value = (from: object, key: string) => (from as Record<string, unknown>)[key]
    return keys.length === others.length && keys.every((key) => isSame(value(one, key), value(other, key)))
  }

  const assert = <T>({ given, should, actual, expected }: Assertion<T>) => {
    const text = `Given ${given}: should ${should}`
    const isPassed = isSame(actual, expected)
    note(text, isPassed)
    if (!isPassed) throw new Error(`${text}. Expected ${show(expected)}, got ${show(actual)}`)
  }

  /** Depth first, with open shadow roots. */
  const all = (root: Element): Element[] => {
    const found: Element[] = []
    const stack = [root]
    for (let at = stack.pop(); at; at = stack.pop()) {
      found.push(at)
      const children = [...Array.from(at.shadowRoot?.children ?? []), ...Array.from(at.children)]
      stack.push(...children.reverse())
    }
    return found
  }

  const find = async (
    what: string,
    within: DomElement,
    fits: (element: Element) => boolean,
  ): Promise<DomElement> => {
    for (let left = limits.find; ; left -= limits.tick) {
      // The innermost: the text of an element is also that of those around it.
      const found = all(within as Element)
        .slice(1)
        .filter(fits)
      const first = found.find(
        (element) => !found.some((other) => other !== element && all(element).includes(other)),
      )
      if (first) return first
      if (left <= 0) throw new Error(`No element with ${what} within ${limits.find / 1_000} s`)
      await wait(limits.tick)
    }
  }

  const wait = (milliseconds: number) =>
    new Promise<void>((resolve) => void setTimeout(resolve, Math.max(0, milliseconds)))

  const fitsText = (text: string | RegExp, value: string | null) => {
    if (value === null) return false
    const plain = value.replace(/\s+/g, " ").trim()
    return typeof text === "string" ? plain === text.replace(/\s+/g, " ").trim() : text.test(plain)
  }

  const fireEvent = async (element: DomElement, type: string, init: Record<string, unknown> = {}) => {
    const kinds: [RegExp, string][] = [
      [/^(click|dblclick|contextmenu|mouse)/, "MouseEvent"],
      [/^pointer/, "PointerEvent"],
      [/^key/, "KeyboardEvent"],
      [/^(input|beforeinput)$/, "InputEvent"],
      [/^(focus|blur)/, "FocusEvent"],
    ]
    const name = kinds.find(([form]) => form.test(type))?.[1] ?? ("detail" in init ? "CustomEvent" : "Event")
    const Made = page[name] as EventClass
    ;(element as Element).dispatchEvent(
      new Made(type, { bubbles: true, cancelable: true, composed: true, ...init }),
    )
    await Promise.race([
      new Promise<void>((resolve) => page.requestAnimationFrame(() => resolve())),
      wait(100),
    ])
  }

  const accessibilityCheck = async () => {
    if (given.noAxe !== undefined) throw new Error(`Accessibility cannot be checked: ${given.noAxe}`)
    const violations = await page.vitaminViolations()
    note("The story has no accessibility violation", violations.length === 0)
    if (!violations.length) return
    const told = violations.map(({ id, help, targets }) => `${id} (${help}) at ${targets[0]}`)
    throw new Error(`Accessibility: ${told.join("; ")}`)
  }

  const render = async (story: Story, root: Element) => {
    const args = story.args ?? {}
    if (story.component === undefined) {
      const { template = "" } = story
      return root.setHTMLUnsafe(typeof template === "function" ? template(args) : template)
    }
    const holder = story.component as { default?: Component<object>; render?: Component<object> }
    const component = typeof holder === "function" ? holder : (holder.default ?? holder.render)
    if (typeof component !== "function")
      throw new Error(
        "component is neither a function, a class, nor a module that exports one as default or render",
      )
    if (
      (component as { prototype?: object }).prototype instanceof
      (page.HTMLElement as unknown as new () => object)
    ) {
      if (!page.customElements.getName(component)) page.customElements.define("story-component", component)
      return root.append(Object.assign(new (component as new () => object)(), args))
    }
    const made = await (component as (args: object, root: unknown) => unknown)(args, root)
    if (typeof made === "string") root.setHTMLUnsafe(made)
    else if (made) root.append(made)
  }

  try {
    const exported = (await import(given.module)) as Record<string, Story>
    const story = exported[given.name]!
    const root = page.document.createElement("div")
    page.document.body.append(root)
    await render(story, root)
    const tools: Play = {
      root,
      args: story.args ?? {},
      assert,
      findByText: (text, within = root) =>
        find(`the text ${text}`, within, (element) => fitsText(text, element.textContent)),
      findByTestId: (id, within = root) =>
        find(`data-testid ${id}`, within, (element) => element.getAttribute("data-testid") === id),
      findByAttribute: (name, value, within = root) =>
        find(`${name}=${value}`, within, (element) => fitsText(value, element.getAttribute(name))),
      fireEvent,
      wait,
      accessibilityCheck,
    }
    await story.play?.(tools)
    return { assertions }
  } catch (error) {
    const { message, stack = "" } = error instanceof Error ? error : new Error(String(error))
    return { assertions, error: { message: message.slice(0, 2_000), stack: stack.slice(0, 4_000) } }
  }
}

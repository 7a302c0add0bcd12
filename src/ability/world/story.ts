// What a `*.stories.ts` file uses, exported as `vitamin/world`: the type of a story, and a helper that checks it. It imports
// nothing, because pages load it too.

/** The element type of the browser where the project's types know it, else the little that is needed to pass it on. */
export type DomElement = typeof globalThis extends { HTMLElement: { prototype: infer Element } }
  ? Element
  : { textContent: string | null; getAttribute(name: string): string | null }

export type Assertion<T = unknown> = { given: string; should: string; actual: T; expected: T }

/** What `play` gets. A `findBy…` waits up to two seconds, looks into open shadow roots, and throws if nothing is found. */
export type Play<Args = Record<string, unknown>> = {
  /** The element that the story was rendered into. */
  root: DomElement
  args: Args
  /** Compares by value, and throws if the values differ. */
  assert<T>(assertion: Assertion<T>): void
  /** The innermost element with this text; a string must be its whole text, without regard to white space around it. */
  findByText(text: string | RegExp, within?: DomElement): Promise<DomElement>
  /** By `data-testid`. */
  findByTestId(id: string, within?: DomElement): Promise<DomElement>
  findByAttribute(name: string, value: string | RegExp, within?: DomElement): Promise<DomElement>
  /** Dispatches an event that bubbles, with the fields of `init`, and waits for the next frame. */
  fireEvent(element: DomElement, type: string, init?: Record<string, unknown>): Promise<void>
  wait(milliseconds: number): Promise<void>
  /** Throws if axe-core finds violations of WCAG 2.2 level A or AA. */
  accessibilityCheck(): Promise<void>
}

export type Parameters = {
  /** Milliseconds for the story, up to 60,000; default: 5,000. */
  timeout?: number
  /** In pixels; default: 800 × 600. */
  viewport?: { width: number; height: number }
  /** `false`: axe-core does not check this story after `play`. */
  accessibility?: boolean
}

/** A function that returns HTML or a node, or fills `root`; or the class of a custom element, which gets `args` as
 * properties. */
export type Component<Args> = ((args: Args, root: DomElement) => unknown) | (new () => object)

export type Story<Args = Record<string, unknown>> = {
  /** What the story shows, in one sentence. */
  intent: string
  /** HTML. */
  template?: string | ((args: Args) => string)
  /** Instead of a template: a component, or a module that exports one as `default` or `render`. */
  component?: Component<Args> | { default: Component<Args> } | { render: Component<Args> }
  args?: Args
  parameters?: Parameters
  play?(tools: Play<Args>): void | Promise<void>
}

/** Returns its argument; TypeScript checks its type. */
export function story<Args = Record<string, unknown>>(given: Story<Args>): Story<Args> {
  return given
}

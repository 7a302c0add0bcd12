// Templates: `html` makes Preact elements from tagged template literals, without a compiler. Every text that it draws passes
// `visible`: a view cannot forget that the text of others may hide something.
import htm from "htm"
import { type ComponentChild, h, type VNode } from "preact"
import { visible } from "./format.ts"

/** Attributes that a person reads or hears. */
const read = ["alt", "aria-label", "placeholder", "title"]

export const html = (htm as unknown as { bind(make: unknown): unknown }).bind(create) as (
  strings: TemplateStringsArray,
  ...values: unknown[]
) => VNode & ComponentChild

function create(type: string, props: Record<string, unknown> | null, ...children: ComponentChild[]): VNode {
  if (typeof type === "string")
    for (const name of read) if (typeof props?.[name] === "string") props[name] = visible(props[name])
  return h(type, props, ...children.map(shown)) as VNode
}

function shown(child: ComponentChild | ComponentChild[]): ComponentChild {
  if (typeof child === "string") return visible(child)
  return (Array.isArray(child) ? child.map(shown) : child) as ComponentChild
}

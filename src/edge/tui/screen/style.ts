// How roles look: one table for 16 colours, which follow the person's own palette, and one for more colours, for dark and
// for light terminals. Without colours, roles that are more than a colour keep their attributes.
import type { Depth, Paint, Role } from "./line.ts"

export type Scheme = "dark" | "light"
export type Theme = { depth: Depth; scheme: Scheme }

type Look = Readonly<{
  /** Bold, dim, italic, underlined, reversed, struck. */
  attributes?: readonly number[]
  /** A colour of the palette: 30 to 37, or 90 to 97. */
  color?: number
  /** The same as red, green and blue, for dark and for light terminals. */
  dark?: Rgb
  light?: Rgb
}>
type Rgb = readonly [number, number, number]

const [bold, dim, italic, underline, reverse, strike] = [1, 2, 3, 4, 7, 9]
const off: Record<number, number> = { 1: 22, 2: 22, 3: 23, 4: 24, 7: 27, 9: 29 }

const looks: Readonly<Record<Role, Look>> = {
  dim: { attributes: [dim] },
  strong: { attributes: [bold] },
  emphasis: { attributes: [italic] },
  strike: { attributes: [strike] },
  heading: { attributes: [bold], color: 34, dark: [122, 178, 255], light: [0, 82, 186] },
  link: { attributes: [underline], color: 36, dark: [110, 200, 210], light: [0, 102, 120] },
  code: { color: 36, dark: [140, 205, 205], light: [0, 105, 110] },
  quote: { attributes: [italic, dim] },
  accent: { color: 36, dark: [94, 205, 190], light: [0, 120, 110] },
  user: { attributes: [bold] },
  success: { color: 32, dark: [120, 200, 120], light: [20, 120, 40] },
  warning: { color: 33, dark: [230, 185, 90], light: [150, 95, 0] },
  error: { color: 31, dark: [245, 120, 115], light: [185, 30, 30] },
  added: { color: 32, dark: [130, 205, 130], light: [20, 110, 40] },
  removed: { color: 31, dark: [240, 130, 125], light: [175, 35, 35] },
  addedWord: { attributes: [bold, reverse], color: 32, dark: [130, 205, 130], light: [20, 110, 40] },
  removedWord: { attributes: [bold, reverse], color: 31, dark: [240, 130, 125], light: [175, 35, 35] },
  selected: { attributes: [reverse] },
  keyword: { color: 35, dark: [205, 150, 240], light: [125, 40, 165] },
  string: { color: 32, dark: [150, 205, 130], light: [35, 110, 40] },
  number: { color: 33, dark: [225, 170, 110], light: [155, 85, 0] },
  comment: { attributes: [dim] },
  function: { color: 34, dark: [125, 175, 250], light: [0, 80, 180] },
  type: { color: 36, dark: [110, 200, 210], light: [0, 105, 115] },
}

/** Roles that differ from other text only by their colour. Without colours they get these attributes. */
const withoutColor: Partial<Record<Role, readonly number[]>> = {
  error: [bold],
  warning: [bold],
  link: [underline],
  selected: [reverse],
}

/** The end of any role. */
const ends = /\u001b\[(?:2[2-9]|39)(?:;(?:2[2-9]|39))*m/g

export function createPaint({ depth, scheme }: Theme): Paint {
  const codes = new Map<Role, [on: string, off: string]>()
  for (const [role, look] of Object.entries(looks) as [Role, Look][])
    codes.set(role, codesOf(role, look, depth, scheme))
  return (role, text) => {
    const [on, end] = codes.get(role)!
    if (!on || !text) return text
    // The end of a role inside this one would end this one too.
    const inner = text.includes("\u001b") ? text.replace(ends, (found) => found + on) : text
    return on + inner + end
  }
}

function codesOf(role: Role, look: Look, depth: Depth, scheme: Scheme): [string, string] {
  const attributes = depth === 1 ? (withoutColor[role] ?? look.attributes ?? []) : (look.attributes ?? [])
  const color = depth === 1 ? undefined : colorOf(look, depth, scheme)
  const on = [...attributes.map(String), ...(color ? [color] : [])]
  const end = [...new Set(attributes.map((code) => off[code]!))].map(String)
  if (color) end.push("39")
  return on.length ? [`\u001b[${on.join(";")}m`, `\u001b[${end.join(";")}m`] : ["", ""]
}

function colorOf(look: Look, depth: Depth, scheme: Scheme): string | undefined {
  const rgb = look[scheme]
  if (depth === 4 || !rgb) return look.color === undefined ? undefined : String(look.color)
  return depth === 24 ? `38;2;${rgb.join(";")}` : `38;5;${nearest256(rgb)}`
}

/** The nearest colour of the 6 × 6 × 6 cube. */
function nearest256([red, green, blue]: Rgb): number {
  const level = (value: number) => (value < 48 ? 0 : value < 115 ? 1 : Math.round((value - 35) / 40))
  return 16 + 36 * level(red) + 6 * level(green) + level(blue)
}

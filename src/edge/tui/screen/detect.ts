// What the terminal can do, as far as its environment and its answers tell.
import { isConsole } from "./console.ts"
import type { Depth } from "./line.ts"
import type { Graphics } from "./picture.ts"
import type { Scheme } from "./style.ts"

export function colorDepth(): Depth {
  if (process.env.NO_COLOR) return 1
  // TMUX and COLORTERM may come from another terminal.
  if (isConsole()) return 4
  const depth = process.stdout.getColorDepth() as Depth
  // Node knows the name of xterm only, not those of tmux and screen.
  return depth === 4 && /-256color$/.test(process.env.TERM ?? "") ? 8 : depth
}

/** How images are shown, as far as the environment tells. tmux and screen pass none on. */
export function graphicsOfEnvironment(): Graphics | undefined {
  const { TERM = "", TERM_PROGRAM = "", KITTY_WINDOW_ID } = process.env
  if (isInside()) return undefined
  if (/^(iTerm\.app|WezTerm)$/.test(TERM_PROGRAM)) return "iterm"
  return KITTY_WINDOW_ID || TERM_PROGRAM === "ghostty" || /kitty|ghostty/.test(TERM) ? "kitty" : undefined
}

/** The background colour, the keyboard protocol, the graphics of kitty, and a question that every terminal answers: after its answer, no other is
 * expected. Nothing waits for the answers. The Linux console would show parts of the questions. */
export function questions(): string {
  if (!hasTitle()) return ""
  // Terminal.app would show it.
  const isUnknown = !isInside() && !graphicsOfEnvironment() && process.env.TERM_PROGRAM !== "Apple_Terminal"
  const graphics = isUnknown ? "\u001b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u001b\\" : ""
  return `\u001b]11;?\u001b\\\u001b[?u${graphics}\u001b[c`
}

export type Answer = { scheme: Scheme } | "key protocol" | "graphics" | "end" | undefined

export function readAnswer(text: string): Answer {
  const color = /^\u001b\]11;rgba?:([0-9a-f]{2,4})\/([0-9a-f]{2,4})\/([0-9a-f]{2,4})/i.exec(text)
  if (color) return { scheme: isLight(color.slice(1)) ? "light" : "dark" }
  if (/^\u001b\[\?\d+u$/.test(text)) return "key protocol"
  if (text.startsWith("\u001b_Gi=31;OK")) return "graphics"
  return /^\u001b\[\?[\d;]*c$/.test(text) ? "end" : undefined
}

/** Used until the terminal answers: some set `COLORFGBG`, whose last number is the background. */
export function schemeOfEnvironment(): Scheme {
  const background = /;(\d+)$/.exec(process.env.COLORFGBG ?? "")?.[1]
  return background === "7" || background === "15" ? "light" : "dark"
}

/** Whether lines are wrapped anew at a resize. xterm, GNU screen, rxvt and the Linux console cut them. */
export function reflows(): boolean {
  const { TERM = "", XTERM_VERSION, STY } = process.env
  return !XTERM_VERSION && !STY && !/^(linux|rxvt|screen$|dumb)/.test(TERM)
}

/** Whether the terminal is known to show hyperlinks (OSC 8). tmux and screen may run in one that does not. */
export function hasLinks(): boolean {
  const { TERM = "", TERM_PROGRAM = "", VTE_VERSION, KITTY_WINDOW_ID, WT_SESSION } = process.env
  if (isInside() || /^(linux|dumb)/.test(TERM)) return false
  if (KITTY_WINDOW_ID || WT_SESSION || Number(VTE_VERSION) >= 5000) return true
  return (
    /^(iTerm\.app|WezTerm|ghostty|vscode)$/.test(TERM_PROGRAM) || /kitty|ghostty|alacritty|foot/.test(TERM)
  )
}

/** Whether the window has a title. */
export function hasTitle(): boolean {
  return !/^(linux|dumb|vt\d+)$/.test(process.env.TERM ?? "")
}

/** Whether tmux or screen is between the program and the terminal. */
function isInside(): boolean {
  const { TERM = "", TMUX, STY } = process.env
  return Boolean(TMUX || STY) || /^(screen|tmux)/.test(TERM)
}

function isLight(parts: string[]): boolean {
  const [red = 0, green = 0, blue = 0] = parts.map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1))
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
}

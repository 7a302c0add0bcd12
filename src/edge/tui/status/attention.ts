// Calls the person when something waits and nobody looks: the bell, and a notification of the desktop in terminals that
// have them.
import { execFile } from "node:child_process"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { throughTmux } from "#edge/tui/screen/tmux.ts"
import { cutTo } from "#edge/tui/screen/width.ts"

type Options = {
  write(text: string): void
  /** Whether the window has the focus; undefined until the terminal has reported it. */
  isFocused(): boolean | undefined
  /** When the person last typed or sent something. */
  usedAt(): number
  settings(): { bell: boolean; notify: boolean }
}

/** Milliseconds after which nobody looks, where no focus is reported. */
const absence = 30_000
const maxText = 120

export function createAttention({ write, isFocused, usedAt, settings }: Options) {
  function isAway(): boolean {
    return isFocused() === undefined ? !reportsFocus() && Date.now() - usedAt() > absence : !isFocused()
  }

  async function call(text: string): Promise<void> {
    const { bell, notify } = settings()
    if (!isAway()) return
    if (bell) write("\u0007")
    if (notify) write(await notification(cutTo(safeLine(text), maxText)))
  }

  return Object.freeze({ call: (text: string) => void call(text) })
}

/** The sequence for this terminal; empty if it has none. */
async function notification(text: string): Promise<string> {
  const { TMUX, STY } = process.env
  if (STY) return ""
  if (!TMUX) return sequence(text, terminalName())
  const [allowed = "", ...outer] = await askTmux("#{allow-passthrough} #{client_termname} #{client_termtype}")
  const inner = /^(on|all|1)$/.test(allowed) ? sequence(text, outer.join(" ")) : ""
  return inner && throughTmux(inner)
}

function sequence(text: string, terminal: string): string {
  if (/iterm|kitty|wezterm|ghostty/i.test(terminal)) return `\u001b]9;${text}\u001b\\`
  if (/rxvt|vte/i.test(terminal)) return `\u001b]777;notify;vitamin;${text.replaceAll(";", ",")}\u001b\\`
  return ""
}

function terminalName(): string {
  const { TERM = "", TERM_PROGRAM = "", KITTY_WINDOW_ID, VTE_VERSION } = process.env
  return [TERM, TERM_PROGRAM, KITTY_WINDOW_ID ? "kitty" : "", VTE_VERSION ? "vte" : ""].join(" ")
}

/** These report no focus, or only if the person has set it up. */
function reportsFocus(): boolean {
  return !/^(linux|screen|tmux)/.test(process.env.TERM ?? "")
}

function askTmux(format: string): Promise<string[]> {
  return new Promise((resolve) => {
    execFile("tmux", ["display-message", "-p", format], { timeout: 1_000 }, (error, out) =>
      resolve(error ? [] : out.trim().split(" ")),
    )
  })
}

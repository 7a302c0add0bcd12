/** A sequence for the terminal that tmux runs in. tmux passes it on if `allow-passthrough` is on. */
export function throughTmux(sequence: string): string {
  return `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`
}

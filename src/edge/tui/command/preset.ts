// The approval presets: how much the agent may do without a question.
export type Preset = "ask" | "accept edits" | "plan" | "sandboxed"
const presets: readonly Preset[] = ["ask", "accept edits", "plan"]

/** "sandboxed" is offered only if there is a sandbox. */
export function presetsFor(isSandboxed: boolean): readonly Preset[] {
  return isSandboxed ? [...presets, "sandboxed"] : presets
}

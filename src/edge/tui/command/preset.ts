// The approval presets: how much the agent may do without a question.
export type Preset = "ask" | "accept edits" | "plan"
export const presets: readonly Preset[] = ["ask", "accept edits", "plan"]

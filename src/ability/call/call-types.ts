// The types of the gate: the call, the step that is judged, the slots of the host, and the result.
import type { Context, Definition, Json, Need, OutputImage } from "./types.ts"

export type Call = { id: string; name: string; arguments?: Json; invalid?: string }

export type Step = { call: Call; tool: Definition; args: unknown; needs: Need[]; context: Context }

export type Refusal = { message: string }

/** What the call may reach: outside the workspace, by the paths that it names, and while it runs. */
export type Grant = Pick<Context, "reals" | "judge"> & { granted: readonly string[] }

export type Slots = {
  constrain?(step: Step): Promise<Refusal | undefined> | Refusal | undefined
  permit?(step: Step): Promise<Refusal | Grant | undefined> | Refusal | Grant | undefined
  snapshot?(step: Step): Promise<void> | void
}

export type Result = {
  status: "success" | "error" | "interrupted"
  /** What the model sees, at most 50 KB. */
  text: string
  data?: Json
  title?: string
  images?: OutputImage[]
  error?: { message: string; stack?: string; recoverable: boolean }
  /** The slot that refused the call. */
  refused?: "constraint" | "permission"
  /** Milliseconds that the tool itself ran, without the wait for permission; 0 if it never ran. */
  duration: number
}

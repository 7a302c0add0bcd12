// How the terminal is opened: the connection to the engine, and what the command line asked for.
import type { Client } from "#client/client.ts"
import type { Attachment, PromptSettings } from "./prompt-settings.ts"

export type Connection = {
  client: Client
  /** The address of the server, if it is not this process. */
  server?: string
  close(): Promise<void>
}

export type TuiOptions = {
  connect(): Promise<Connection>
  folder: string
  /** How the person calls the program. */
  command: string
  version: string
  historyFile: string
  /** Where the choice of colours is kept. */
  themeFile: string
  /** The first prompt, and its attachments. */
  text: string
  parts(): Promise<Attachment[]>
  session?: string
  isContinued: boolean
  agent?: string
  model?: string
  mode?: "plan" | "act"
  /** Nothing is drawn again: for screen readers. */
  isPlain: boolean
  settings: PromptSettings
  /** The agent of this process runs in a sandbox. */
  isSandboxed: boolean
}

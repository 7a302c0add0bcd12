// The editor in which a session is open, as far as it offers its files and terminals to tools. The edge passes it in
// with a prompt; without it, tools use the disk and shells of our own.

export type Editor = Readonly<{
  /** The text of a file with the changes that are not saved yet. Undefined if the editor does not have it. */
  readText?(path: string, signal: AbortSignal): Promise<string | undefined>
  /** Set the text of a file and save it. Throws if the editor refuses. */
  writeText?(path: string, text: string, signal: AbortSignal): Promise<void>
  /** Run a program in a terminal that the editor shows with the call. Undefined if it does not show this call. */
  startTerminal?(order: TerminalOrder): Promise<Terminal | undefined>
}>

export type TerminalOrder = {
  messageId: string
  callId: string
  command: string
  args: string[]
  cwd: string
  /** Added to the environment that the editor gives to its terminals. */
  env: Record<string, string>
  signal: AbortSignal
}

export type Terminal = Readonly<{
  /** Resolves when the program has exited. */
  ended: Promise<{ exitCode: number | null; signal: string | null }>
  /** The end of the output. `isCut`: there was more before it. */
  output(): Promise<{ text: string; isCut: boolean }>
  kill(): Promise<void>
  /** Gives the terminal back. The editor goes on showing its output. */
  release(): Promise<void>
}>

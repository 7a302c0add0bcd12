// The table of commands: `/help` lists them in this order, and docs/terminal.md too.
import { branchCommand } from "./branch.ts"
import type { Command } from "./context.ts"
import { contextCommand } from "./context-bar.ts"
import { costCommand } from "./cost.ts"
import { copyCommand, exportCommand } from "./export.ts"
import { doctorCommand, helpCommand, keysCommand } from "./help.ts"
import { initCommand } from "./init.ts"
import { mcpCommand } from "./mcp.ts"
import { permissionsCommand, skillsCommand } from "./rights.ts"
import { compactCommand, forkCommand, newCommand, planCommand, sessionsCommand } from "./session.ts"
import { agentCommand, loginCommand, modeCommand, modelCommand, themeCommand } from "./settings.ts"
import { diffCommand, redoCommand, undoCommand } from "./undo.ts"

export const commands: readonly Command[] = [
  helpCommand(() => commands),
  newCommand,
  sessionsCommand,
  modelCommand,
  agentCommand,
  modeCommand,
  planCommand,
  undoCommand,
  redoCommand,
  diffCommand,
  branchCommand,
  forkCommand,
  compactCommand,
  contextCommand,
  costCommand,
  permissionsCommand,
  { name: "trust", about: "review the files that are not trusted", run: ({ reviewTrust }) => reviewTrust() },
  mcpCommand,
  skillsCommand,
  initCommand,
  exportCommand,
  copyCommand,
  themeCommand,
  keysCommand,
  doctorCommand,
  loginCommand,
  { name: "quit", about: "leave the terminal; the session is kept", run: ({ quit }) => quit() },
]

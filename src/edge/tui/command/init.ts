// `/init`: the agent looks at the project and writes AGENTS.md, the instructions that every later prompt gets.
import type { Command } from "./context.ts"

const prompt = `Write the file AGENTS.md for this project, for coding agents that will work here.
First look: the README, the manifests and lock files, the scripts and the CI, the folders, some source files and tests. Read an
existing AGENTS.md and rule files of other tools too (CLAUDE.md, .cursorrules, .github/copilot-instructions.md).
Then write at most 80 lines: what the project is, the commands that build, check and test it (and one test alone), how the folders
fit together, and the conventions that the code really follows. Leave out what a reader sees at once and what is true of
every project. If AGENTS.md exists, keep what is right and change what is not.`

export const initCommand: Command = {
  name: "init",
  about: "look at the project and write AGENTS.md",
  argument: "[what to mind]",
  run: ({ talk }, rest) => talk.send(rest ? `${prompt}\nThe person adds: ${rest}` : prompt),
}

// Agent files for tests: one in each format, and the folder that they are in.
import * as Trust from "#kernel/trust/trust.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"

export const folder = ".vitamin/agents/"
export const trusting = (tmp: Tmp) => Trust.grant(tmp.path)
export const agentFiles = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [folder + name, content]))

export const yaml = `domain: analysis
role: specialist
capabilities: [data.analyze]
tools: [read, grep]
temperature: 0.2
permissions:
  - { permission: file.write, pattern: "reports/**", action: allow }
  - { permission: bash.execute, pattern: "*", action: deny }
systemPrompt: |-
  Look at numbers.

  Then say what they mean.
metadata: { description: Reads data }
`
export const markdown = `---
${yaml.replace(/systemPrompt: [\s\S]*(?=metadata)/, "")}---

Look at numbers.

Then say what they mean.
`
export const code = `import { defineAgent } from "vitamin"
export const analyst = defineAgent({
  id: "analyst-ts",
  domain: "analysis",
  capabilities: ["data.analyze"],
  tools: ["read", "grep"],
  temperature: 0.2 as number,
  permissions: [
    { permission: "file.write", pattern: "reports/**", action: "allow" },
    { permission: "bash.execute", pattern: "*", action: "deny" },
  ],
  systemPrompt: "Look at numbers.\\n\\nThen say what they mean.",
  metadata: { description: "Reads data" },
})
`

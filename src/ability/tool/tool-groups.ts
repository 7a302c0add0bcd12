// The tools of specialists that other agents rarely need. They are loaded when a specialist or an orchestrator runs, or when
// tools are listed, and cost nothing at any other start.
import type { Definition } from "#ability/call/types.ts"
import { Instance } from "#kernel/instance.ts"
import * as ToolRegistry from "./tool-registry.ts"

/** Each returns its tools, or none if what they need is not on this machine. */
type Group = () => Promise<readonly Definition[]>

const groups: readonly Group[] = [
  async () => (await import("#ability/documents/document-tools.ts")).documentTools,
  async () => (await import("#ability/memory/memory-tools.ts")).memoryTools,
  async () => (await import("#ability/vault/vault-tools.ts")).vaultTools,
  async () => (await import("#ability/browser/browser-tools.ts")).browserTools(),
  async () => (await import("#ability/world/world-tools.ts")).worldTools(),
  async () => (await import("#ability/analysis/analysis-tools.ts")).analysisTools,
  async () => (await import("#ability/lsp/lsp-tools.ts")).lspTools,
]
const loading = Instance.state<{ done?: Promise<void> }>(() => ({}))

/** Registers the tools of all groups in the current Instance, once. */
export function loadToolGroups(): Promise<void> {
  const own = loading()
  own.done ??= load()
  return own.done
}

async function load(): Promise<void> {
  for (const tools of await Promise.all(groups.map((group) => group())))
    for (const tool of tools) ToolRegistry.register(tool)
}

// Divides the tools among the specialists by the prefixes of their routing names: the longest matching prefix wins, so that
// each tool belongs to one specialist at most.
import type { AgentSpec } from "./agent-spec.ts"

type RoutedTool = { id: string; routingName?: string }

/** `byAgent` has an entry for each spec. */
export type Partition<T> = { byAgent: Record<string, T[]>; unmatched: T[] }

export function partitionTools<T extends RoutedTool>(
  tools: readonly T[],
  specs: readonly Pick<AgentSpec, "name" | "prefixes">[],
): Partition<T> {
  const byAgent: Record<string, T[]> = Object.fromEntries(specs.map(({ name }) => [name, []]))
  const unmatched: T[] = []
  for (const tool of tools) {
    const owner = ownerOf(tool.routingName ?? tool.id, specs)
    if (owner === undefined) unmatched.push(tool)
    else byAgent[owner]!.push(tool)
  }
  return { byAgent, unmatched }
}

/** The first spec wins if two have the same prefix. */
function ownerOf(name: string, specs: readonly Pick<AgentSpec, "name" | "prefixes">[]): string | undefined {
  let [owner, length] = [undefined as string | undefined, 0]
  for (const spec of specs)
    for (const prefix of spec.prefixes)
      if (prefix.length > length && name.startsWith(prefix)) [owner, length] = [spec.name, prefix.length]
  return owner
}

// The branches of a session as rows of a tree.
import type { Branch } from "#client/client.ts"

export type BranchRow = { branch: Branch; level: number; children: number }

/** Each branch below the one that it was made from, in the order in which they were made. Branches whose origins form a
 * circle, or name one that does not exist, are at the top. */
export function branchRows(branches: readonly Branch[], closed: ReadonlySet<string>): BranchRow[] {
  const byName = new Map(branches.map((branch) => [branch.name, branch]))
  const below = Map.groupBy(byName.values(), ({ name, from }) =>
    from && from.branch !== name && byName.has(from.branch) ? from.branch : "",
  )
  const rows: BranchRow[] = []
  const seen = new Set<string>()
  // A stack: a chain of thousands of branches would be too deep for calls.
  const walk = (first: readonly Branch[]) => {
    const open = first.toReversed().map((branch) => ({ branch, level: 1, isShown: true }))
    for (let next = open.pop(); next; next = open.pop()) {
      const { branch, level, isShown } = next
      if (seen.has(branch.name)) continue
      seen.add(branch.name)
      const children = branch.name === "" ? [] : (below.get(branch.name) ?? [])
      if (isShown) rows.push({ branch, level, children: children.length })
      const isOpen = isShown && !closed.has(branch.name)
      for (const child of children.toReversed())
        open.push({ branch: child, level: level + 1, isShown: isOpen })
    }
  }
  walk(below.get("") ?? [])
  walk([...byName.values()].filter(({ name }) => !seen.has(name)))
  return rows
}

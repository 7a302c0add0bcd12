// Test files that can share a process do: a process takes up to 0.6 s of processor time to load the sources, more than
// many files need for their tests.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"

/** Tests in these folders create the state that they use, and dispose of it. */
const shared = [
  "test/util",
  "test/knowledge",
  "test/engine/context",
  "test/ability/permission",
  "test/ability/file",
  "test/ability/tool",
]
/** Test files in one process, so that the processes stay about equally long. */
const most = 10
/** Hooks run around the tests of all files of a process; the rest changes or measures the whole process. */
const needsOwnProcess =
  /^(before|after)(Each)?\(|\bmock\.|\bglobalThis\.|\bprocess\.(chdir|exit|argv)\b|fixture\/memory\.ts/m

/** The files to start, each with its test files: itself, or those that it imports. Writes the latter into `folder`. */
export function groupTests(files: string[], folder: string): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  const counts = new Map<string, number>()
  for (const file of files) {
    const home = shared.find((path) => file.startsWith(`${path}/`))
    if (home === undefined || needsOwnProcess.test(readFileSync(file, "utf8"))) {
      groups.set(file, [file])
      continue
    }
    const count = counts.get(home) ?? 0
    counts.set(home, count + 1)
    const name = `${home.replaceAll("/", "-")}-${Math.floor(count / most) + 1}.mjs`
    const group = relative(".", join(folder, name))
    groups.set(group, [...(groups.get(group) ?? []), file])
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [group, members] of groups)
    if (group !== members[0])
      writeFileSync(group, members.map((file) => `import ${JSON.stringify(resolve(file))}\n`).join(""))
  return groups
}

// Finds axe-core, which checks accessibility and is not installed with the program. The one place that looks for it.
import * as OptionalPackage from "#kernel/process/optional-package.ts"

/** The range of `peerDependencies` in package.json allows this version. */
const library = { name: "axe-core", version: "4.14.0", folder: "browser" }

/** The smallest script for pages, and the command that installs it. */
export function findAxe(): { path: string | undefined; todo: string } {
  const main = OptionalPackage.find(library)
  return { path: main?.replace(/axe\.js$/, "axe.min.js"), todo: OptionalPackage.installCommand(library) }
}

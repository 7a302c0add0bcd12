// A path as tools take it: relative to the folder that they work in, or absolute.
import { relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import { isInside } from "#util/file/resolve-inside.ts"

export function pathForTools(file: string): string {
  const { directory } = Instance
  return isInside(directory, file) ? relative(directory, file) || "." : file
}

// Modules of Node that a start must not pay for: taken when they are first needed.

/** `node:child_process` */
export function childProcess() {
  return process.getBuiltinModule("node:child_process")
}

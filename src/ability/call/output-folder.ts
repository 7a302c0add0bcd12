// The folder of this machine that has the long outputs and images of a session.
import { createHash } from "node:crypto"
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"

export function outputFolder(sessionId: string): string {
  return join(Global.data(), "outputs", fileName(sessionId))
}

/** Call ids come from the model, so they are made safe as file names. */
export function fileName(id: string): string {
  return /^[\w-]{1,100}$/.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 40)
}

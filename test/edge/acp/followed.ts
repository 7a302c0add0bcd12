// A session in a test world that an editor follows.
import type { ClientCapabilities } from "@agentclientprotocol/sdk"
import { followSession } from "#edge/acp/update/updates.ts"
import { inWorld, type World } from "../../engine/session/harness.ts"
import type { Script } from "../../fixture/fake-llm.ts"
import { createEditor, type Editor } from "./editor.ts"

export type Followed = World & { editor: Editor }
type Setting = Parameters<typeof inWorld>[2] & { client?: ClientCapabilities }

export const all: ClientCapabilities = { session: { compaction: {}, notices: {} } }

export async function inFollowed(
  script: Script,
  fn: (world: Followed) => Promise<unknown>,
  { client = {}, ...setting }: Setting = {},
): Promise<void> {
  await inWorld(
    script,
    async (world) => {
      const editor = createEditor()
      const { stop } = followSession({ sessionId: world.session.id, send: editor.send, client })
      await fn({ ...world, editor })
      stop()
      editor.shown()
    },
    setting,
  )
}

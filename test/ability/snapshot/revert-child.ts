// A process that reverts to a message and says when it begins. A test kills it on the way.
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { revert } from "./harness.ts"

const [directory = "", messageId = ""] = process.argv.slice(2)

await Instance.provide({
  directory,
  async fn() {
    console.log("begin")
    await revert(messageId)
  },
})
await Instance.disposeAll()
await Storage.close()

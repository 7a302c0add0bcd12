// An app with some routes, without a socket, in a folder of its own, with cleanup.
import { createApp } from "#edge/server/app.ts"
import { createEventStream } from "#edge/server/event/event-stream.ts"
import type { Route } from "#edge/server/http/route.ts"
import { createEventLog } from "#kernel/bus/event-log.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { token } from "./app-harness.ts"

export async function appWith(routes: Route[]) {
  const tmp = await tmpdir()
  const log = createEventLog({ directory: `${tmp.path}/../events` })
  const eventStream = createEventStream({ log })
  const app = createApp({
    token,
    hosts: ["127.0.0.1:3141"],
    origins: [],
    directory: tmp.path,
    config: () => ({}),
    version: "1",
    eventStream,
    routes,
  })
  return {
    tmp,
    app,
    async [Symbol.asyncDispose]() {
      eventStream.close()
      log.close()
      await Instance.disposeAll()
      await Storage.close()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

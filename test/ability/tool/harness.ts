// A project folder with an Instance around the test, and calls through the gate as a session makes them.

import { type Result, runTool, type Slots } from "#ability/tool/run-tool.ts"
import type { Json } from "#ability/tool/tool.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

export type Options = { signal?: AbortSignal; slots?: Slots; sessionId?: string; callId?: string }

/** Run `fn` in the Instance of a new folder, or of one below it. */
export async function inProject(fn: (tmp: Tmp) => Promise<void>, options: { git?: boolean } = {}) {
  await using tmp = await tmpdir(options)
  try {
    await Instance.provide({ directory: tmp.path, fn: () => fn(tmp) })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}

export function call(name: string, args: Json, options: Options = {}): Promise<Result> {
  const { signal = new AbortController().signal, slots, sessionId = "ses_1", callId = "call_1" } = options
  const context = { sessionId, messageId: "msg_1", callId, signal }
  return runTool({ call: { id: callId, name, arguments: args }, context, ...(slots ? { slots } : {}) })
}

/** Slots that let everything through. */
export const free: Slots = { permit: () => undefined }

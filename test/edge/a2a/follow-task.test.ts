// A stream of a task by itself: what a client gets that does not read, and what a client gets that leaves.
import assert from "node:assert/strict"
import { test } from "node:test"
import { Message, type StreamResponse, Task, TaskState } from "@a2a-js/sdk"
import { followTask } from "#edge/a2a/follow-task.ts"
import { isTerminal, statusUpdate } from "#edge/a2a/objects.ts"
import { promptOf, withoutBytes } from "#edge/a2a/prompt-of.ts"
import { type Live, statusOf } from "#edge/a2a/task-changes.ts"

function working() {
  const task = {
    ...Task.fromJSON({ id: "t", contextId: "c" }),
    status: statusOf(TaskState.TASK_STATE_WORKING),
  }
  const listeners = new Set<(update: StreamResponse) => void>()
  const live = { task, listeners, done: new Promise<void>(() => {}) } as unknown as Live
  const emit = (state = TaskState.TASK_STATE_WORKING) => {
    for (const listener of [...listeners]) listener(statusUpdate(task, statusOf(state)))
  }
  return { live, listeners, emit }
}

test("a stream whose client does not read is ended after 1,000 updates, and keeps nothing", async () => {
  const { live, listeners, emit } = working()
  const stream = followTask(live, { ends: isTerminal, signal: new AbortController().signal })
  await stream.next()
  for (let i = 0; i < 1_001; i++) emit()
  assert.equal((await stream.next()).done, true)
  assert.equal(listeners.size, 0)
})

test("a stream ends at a terminal state, and when its client leaves", async () => {
  const { live, listeners, emit } = working()
  const leaving = new AbortController()
  const left = followTask(live, { ends: isTerminal, signal: leaving.signal })
  const whole = followTask(live, { ends: isTerminal, signal: new AbortController().signal })
  await Promise.all([left.next(), whole.next()])
  const rest = left.next()
  leaving.abort()
  assert.equal((await rest).done, true)
  emit()
  emit(TaskState.TASK_STATE_COMPLETED)
  emit()
  assert.equal((await Array.fromAsync(whole)).length, 2)
  assert.equal(listeners.size, 0)
})

test("promptOf() joins texts and data and attaches images; the history keeps no bytes", () => {
  const parts = [
    { text: "Look:" },
    { data: { port: 80 } },
    { raw: "aGVsbG8=", mediaType: "text/plain", filename: "a.txt" },
    { raw: "iVBORw0KGgo=", mediaType: "image/png" },
  ]
  const message = Message.fromJSON({ messageId: "m", role: "ROLE_USER", parts })
  const prompt = promptOf(message)
  assert.equal(prompt.text, 'Look:\n\n{\n  "port": 80\n}\n\na.txt:\nhello')
  assert.deepEqual(prompt.parts, [
    { type: "image", source: { kind: "base64", value: "iVBORw0KGgo=", mimeType: "image/png" } },
  ])
  assert.deepEqual(withoutBytes(message).parts.at(-1)!.content, {
    $case: "text",
    value: "(image/png, 8 bytes)",
  })
})

// Takes snapshots around a call that changes files, before and after it. Both go into the call's message. Only the next
// call that changes something waits until they are stored.
import { resolve } from "node:path"
import { saveUnsaved } from "#ability/file/in-editor.ts"
import * as ChangedFiles from "#ability/lsp/changed-files.ts"
import { isChanged } from "#ability/snapshot/is-changed.ts"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import type { Step } from "#ability/tool/run-tool.ts"
import { keep, type Records } from "#engine/record/append.ts"
import { keepCheckout } from "#engine/record/if-checkout.ts"
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

type Request = Message.Of<"tool_request">
type Asked = { request: Request; call: Request["data"]["calls"][number]; records: Records }

/** Permissions of calls that may change any file of the work tree, and of calls that change one file. */
const anything = new Set(["bash.execute", "tool.execute", "mcp.call"])
const oneFile = new Set(["file.write", "file.edit"])

/** The gate's snapshot slot for one call, and the work when the call is over. */
export function takeSnapshot({ request, call, records }: Asked) {
  let taken: Snapshot.Taken | undefined
  let isOver = false

  async function slot(step: Step): Promise<void> {
    const { needs, tool, args, context } = step
    const paths = tool.readOnly ? [] : pathsOf(needs)
    if (!paths.length) return
    if (context.editor && paths !== "worktree") for (const path of paths) await saveUnsaved(step, path)
    const { sessionId, messageId, callId } = context
    const goesOn = (args as { background?: unknown } | undefined)?.background === true
    const note = goesOn ? "what the job does later is not covered" : undefined
    taken = await Snapshot.take({ sessionId, messageId, callId, tool: tool.id, paths, note })
    // A call that was interrupted meanwhile does not run any more.
    if (isOver) return taken?.close()
    if (taken) keep(records, put(taken.part))
  }

  function finish(): void {
    isOver = true
    if (taken) keep(records, taken.finish().then(noteChanges).then(put).then(taken.close).then(keepFolder))
  }

  function noteChanges(part: Snapshot.Part): Snapshot.Part {
    records.changed ??= new Set()
    const paths = part.files.filter(isChanged).map(({ path }) => path)
    for (const path of paths) records.changed.add(path)
    ChangedFiles.note(paths.map((path) => resolve(Instance.worktree, path)))
    return part
  }

  function keepFolder(): Promise<void> {
    const { scope, files } = taken!.part
    return keepCheckout(scope === "paths" ? files.map(({ path }) => path) : [])
  }

  async function put(part: Snapshot.Part): Promise<void> {
    call.snapshot = part as Message.Json
    await MessageStore.write(request)
  }

  return { slot, finish }
}

function pathsOf(needs: Step["needs"]): string[] | "worktree" {
  if (needs.some(({ permission }) => anything.has(permission))) return "worktree"
  return needs.flatMap(({ permission, target }) => (oneFile.has(permission) ? [target] : []))
}

// Requests that another worker must answer: they travel by mail, with the person who asks, and run there as they would
// here. What each route needs is in its `across`.
import { localFolder } from "#ability/checkout/local-folder.ts"
import {
  type Across,
  type Answered,
  callRoute,
  checkCall,
  type RawCall,
  type Route,
} from "#edge/server/across.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import * as Log from "#kernel/process/log.ts"
import type { Mail } from "#kernel/worker/create-mail.ts"
import * as Worker from "#kernel/worker/worker.ts"
import { errorText, NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { outcomeOfError } from "./job.ts"

type Asked = { routeId: string; raw: RawCall; directory: string; person: Person.Person | undefined }
type Reply = { value: unknown } | ReturnType<typeof outcomeOfError>
type CallMessage = { kind: "call"; id: string; from: string; asked: Asked }
type ReplyMessage = { kind: "reply"; id: string; reply: Reply }

/** Milliseconds that another worker has to answer. */
const patience = 4_000

class Silent extends NamedError {
  constructor(worker: string) {
    super("Worker.SilentBusy", `The worker ${worker} did not answer. Try again in a few seconds.`, { worker })
  }
}

export function createCalls(mail: () => Mail): Across & Readonly<{ take(message: unknown): void }> {
  const waiting = new Map<string, (reply: Reply) => void>()
  let table = new Map<string, Route>()

  function take(message: unknown) {
    const one = message as CallMessage | ReplyMessage
    if (one.kind === "reply") waiting.get(one.id)?.(one.reply)
    if (one.kind === "call")
      answerHere(one).catch((error) =>
        Log.warn("a request of another worker was not answered", { error: errorText(error) }),
      )
  }

  async function answerHere({ id, from, asked }: CallMessage) {
    const route = table.get(asked.routeId)
    if (!route) return
    const { directory, person } = asked
    const call = async () => callRoute(route, checkCall(route, asked.raw))
    const fn = () => Person.run(person, call)
    // The folder of the other server may not exist here.
    const answered =
      route.instance === false
        ? fn()
        : Instance.provide({ directory: await localFolder(directory), init: startInstance, fn })
    const reply = await answered.then(({ value }): Reply => ({ value }), outcomeOfError)
    await mail().send(from, { kind: "reply", id, reply } satisfies ReplyMessage)
  }

  async function ask(worker: string, asked: Asked): Promise<unknown> {
    const id = createId("call")
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    waiting.set(id, resolve)
    const timer = setTimeout(() => reject(new Silent(worker)), patience)
    try {
      await mail().send(worker, { kind: "call", id, from: Worker.id()!, asked } satisfies CallMessage)
      const reply = await promise
      if ("value" in reply) return reply.value
      if ("messageId" in reply) return undefined
      throw new NamedError(reply.error.name, reply.error.message, reply.error.data)
    } finally {
      clearTimeout(timer)
      waiting.delete(id)
    }
  }

  async function others(): Promise<string[]> {
    return [...(await Worker.alive())].filter((worker) => worker !== Worker.id())
  }

  /** The answers of all workers as one list, the oldest item first. One that does not answer is left out. */
  async function fromEveryone(asked: Asked, local: () => Promise<Answered>): Promise<Answered> {
    const mine = await local()
    const foreign = await Promise.all((await others()).map((worker) => ask(worker, asked).catch(() => [])))
    const all = [mine.value, ...foreign].flat() as { time: number }[]
    return { ...mine, value: all.sort((a, b) => a.time - b.time) }
  }

  /** The answer of the worker that has what the request names. */
  async function fromAnyone(asked: Asked, local: () => Promise<Answered>): Promise<Answered> {
    try {
      return await local()
    } catch (error) {
      if (!isMissing(error)) throw error
      const replies = await Promise.allSettled((await others()).map((worker) => ask(worker, asked)))
      // Another worker may be silent or fail: the one that has it decides.
      const answered = replies.find((reply) => reply.status === "fulfilled")
      if (answered) return { status: 200, value: answered.value }
      const failed = replies.find((reply) => reply.status === "rejected" && !isMissing(reply.reason))
      throw failed ? (failed as PromiseRejectedResult).reason : error
    }
  }

  async function fromHolder(asked: Asked, local: () => Promise<Answered>): Promise<Answered> {
    const holder = await Worker.holderOf((asked.raw.params as { id: string }).id)
    if (holder === undefined || holder === Worker.id()) return local()
    return { status: 200, value: await ask(holder, asked) }
  }

  return Object.freeze({
    take,
    serve(routes) {
      table = new Map(routes.flatMap((route) => (route.across ? [[route.id, route] as const] : [])))
    },
    answer(route, { raw: { params, query, body }, directory }, local) {
      const raw = { params, query, headers: {}, body }
      const asked: Asked = { routeId: route.id, raw, directory, person: Person.current() }
      if (route.across === "everyone") return fromEveryone(asked, local)
      return route.across === "anyone" ? fromAnyone(asked, local) : fromHolder(asked, local)
    },
  })
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.name.endsWith("NotFound")
}

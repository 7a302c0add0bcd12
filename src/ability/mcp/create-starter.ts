// Starts servers without delaying the work: a first request waits a moment for servers that were never tried. Slow
// servers, and those that failed before, start in the background.
import { AsyncLocalStorage } from "node:async_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import type { ConfiguredServer } from "./configured-server.ts"

export type Starter = Readonly<{
  /** Starts in the background the servers that were never tried, or not for a long time. */
  begin(servers: Iterable<ConfiguredServer>): void
  /** Starts servers that were never tried, and waits for them up to `firstWait`. */
  waitFor(servers: Iterable<ConfiguredServer>, signal: AbortSignal): Promise<void>
  /** After `retryAfter`, starts servers that failed, or that were not connected for a long time. */
  retryLater(): void
  end(): void
}>

const patience = 1_000

const firstWait = 3_000
const retryAfter = 2_000
const atOnce = 8

/** `usable`: the current servers, by id. */
export function createStarter(usable: ReadonlyMap<string, ConfiguredServer>): Starter {
  const end = new AbortController()
  const starting = new Map<ConfiguredServer, Promise<void>>()
  let retrying: NodeJS.Timeout | undefined

  async function waitFor(servers: Iterable<ConfiguredServer>, signal: AbortSignal): Promise<void> {
    const fresh = [...servers].filter(isFresh)
    if (!fresh.length) return
    const over = new AbortController()
    await Promise.race([
      withSlots(atOnce, fresh, start),
      sleep(firstWait, undefined, { signal: AbortSignal.any([signal, over.signal]) }),
    ]).catch(() => undefined)
    over.abort()
    if (signal.aborted) return
    for (const one of fresh.filter((one) => isWanted(one) && one.isNew())) {
      one.giveUpWaiting()
      Log.warn(
        `MCP server ${one.server.id} is not up yet; "${ownCommand} mcp test ${one.server.id}" waits for it`,
      )
    }
  }

  /** Callers that start the same server at once share one start. */
  function start(one: ConfiguredServer): Promise<void> {
    if (!isWanted(one)) return Promise.resolve()
    let begun = starting.get(one)
    if (!begun) {
      begun = one
        .connect()
        .then(() => undefined)
        .catch((error) => {
          if (isWanted(one))
            Log.warn(`MCP server ${one.server.id} did not start`, { error: errorText(error) })
        })
        .finally(() => starting.delete(one))
      starting.set(one, begun)
    }
    return begun
  }

  function isWanted(one: ConfiguredServer): boolean {
    return !end.signal.aborted && usable.get(one.server.id) === one
  }

  function retryLater(): void {
    retrying ??= setTimeout(
      AsyncLocalStorage.bind(() => {
        retrying = undefined
        const due = [...usable.values()].filter((one) => one.isDue())
        void withSlots(2, due, start)
      }),
      retryAfter,
    ).unref()
  }

  return Object.freeze({
    begin(servers) {
      const due = [...servers].filter((one) => isFresh(one) || one.isDue())
      void withSlots(atOnce, due, start)
    },
    waitFor,
    retryLater,
    end() {
      end.abort()
      clearTimeout(retrying)
    },
  })
}

function isFresh(one: ConfiguredServer): boolean {
  return one.isNew() && one.state() !== "disconnected"
}

/** Works on a few items at a time. After `patience`, an item gives its slot to the next: a server that hangs must not
 * hold up the others. */
async function withSlots<T>(slots: number, items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const running: Promise<void>[] = []
  const next = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const done = work(item)
      running.push(done)
      await Promise.race([done, sleep(patience, undefined, { ref: false })])
    }
  }
  await Promise.all(Array.from({ length: Math.min(slots, items.length) }, next))
  await Promise.all(running)
}

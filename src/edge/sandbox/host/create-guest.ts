// A guest as the parent sees it: the pipe to it, and what the prompt that runs in it may ask for.
import type { Duplex } from "node:stream"
import type { Boundary, Status } from "#ability/sandbox/sandbox.ts"
import type { Checked } from "#ability/web/check-url.ts"
import { type Answerer, createPeer, type Peer } from "#edge/sandbox/wire/peer.ts"
import * as Log from "#kernel/process/log.ts"
import { NamedError } from "#util/error.ts"

/** What a guest may do now: that of the prompt which runs in it. */
export type Doors = Answerer & {
  /** The address to connect to, for a host that the policy does not name. Throws `UrlDenied`. */
  checkUrl(url: string): Promise<Checked>
}
export type Guest = Readonly<{
  peer: Peer
  status: Status
  /** Sets what the guest may ask for; without it everything is refused. */
  serve(doors: Doors | undefined): void
  /** Resolves when the process is gone, with the last lines of its stderr. */
  ended: Promise<string>
  isOver(): boolean
  /** Decides on a host that the policy does not name. */
  checkUrl(url: string): Promise<Checked>
  stop(): Promise<void>
  disarm: Boundary["disarm"]
}>

export function createGuest(options: {
  stream: Duplex
  status: Status
  ended: Promise<string>
  stop(): Promise<void>
  disarm: Boundary["disarm"]
}): Guest {
  const { status, stop, disarm } = options
  let doors: Doors | undefined
  let isOver = false
  const idle = new NamedError("Sandbox.Idle", "No prompt runs in this sandbox.")
  const peer = createPeer(options.stream, {
    async ask(name, args, signal) {
      if (!doors) throw idle
      return doors.ask(name, args, signal)
    },
    // The model works while the parent stores what the guest has said.
    isUrgent: (name) => name === "model.stream",
    // Events after the end of a prompt, such as of a server that ends, are not of interest.
    note: (name, args) => doors?.note(name, args),
  })
  const ended = options.ended.then((how) => {
    isOver = true
    peer.close()
    return how
  })
  // A guest that breaks the rules of the pipe is ended.
  void peer.closed.then(() => stop())
  return Object.freeze({
    peer,
    status,
    ended,
    disarm,
    isOver: () => isOver,
    serve(next: Doors | undefined) {
      doors = next
    },
    async checkUrl(url: string) {
      return doors ? doors.checkUrl(url) : denyUrl(url)
    },
    async stop() {
      peer.close()
      await stop()
      await ended
      // What background jobs made since the last prompt.
      for (const path of (await disarm()).renamed) Log.warn(sayDisarmed(path))
    },
  })
}

export function sayDisarmed(path: string): string {
  return `a nested repository that was made in the sandbox would have run programs of its own; its .git is now ${path}`
}

/** For a guest without a prompt. */
export async function denyUrl(url: string): Promise<never> {
  const { UrlDenied } = await import("#ability/web/check-url.ts")
  throw new UrlDenied(url, "domain", "no prompt runs in the sandbox.")
}

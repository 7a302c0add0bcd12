// A guest as the parent sees it: the pipe to it, and what the prompt that runs in it may ask for.
import type { Duplex } from "node:stream"
import type { Status } from "#ability/sandbox/sandbox.ts"
import { type Checked, UrlDenied } from "#ability/web/check-url.ts"
import { type Answerer, createPeer, type Peer } from "#edge/sandbox/wire/peer.ts"
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
}>

export function createGuest(options: {
  stream: Duplex
  status: Status
  ended: Promise<string>
  stop(): Promise<void>
}): Guest {
  const { status, stop } = options
  let doors: Doors | undefined
  let isOver = false
  const idle = new NamedError("Sandbox.Idle", "No prompt runs in this sandbox.")
  const peer = createPeer(options.stream, {
    async ask(name, args, signal) {
      if (!doors) throw idle
      return doors.ask(name, args, signal)
    },
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
    isOver: () => isOver,
    serve(next: Doors | undefined) {
      doors = next
    },
    async checkUrl(url: string) {
      if (!doors) throw new UrlDenied(url, "domain", "no prompt runs in the sandbox.")
      return doors.checkUrl(url)
    },
    async stop() {
      peer.close()
      await stop()
      await ended
    },
  })
}

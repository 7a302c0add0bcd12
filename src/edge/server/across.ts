// What a server does if other workers of its database must answer a request, too: the one that works on a session, all of
// them, or the one that has a question. `edge/cluster` does it.
import type { RawCall, Route } from "#edge/server/http/route.ts"

export { callRoute, checkCall } from "#edge/server/http/call-route.ts"
export type { RawCall, Route } from "#edge/server/http/route.ts"

export type Answered = { status: 200 | 202; value: unknown }
export type Across = Readonly<{
  /** The routes that other workers may call here. */
  serve(routes: readonly Route[]): void
  /** `local` answers here. */
  answer(
    route: Route,
    call: { raw: RawCall; directory: string },
    local: () => Promise<Answered>,
  ): Promise<Answered>
}>

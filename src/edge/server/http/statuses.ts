// Error statuses: what each means, and which errors of other folders map to it. Those folders know nothing about HTTP, so
// errors are mapped by the last part of their name ("Storage.NotFound").
import type { Route } from "./route.ts"

type Row = {
  status: number
  meaning: string
  /** Matches the last part of an error's name. The first matching row is used. */
  errors?: RegExp
  /** Routes that may answer with this status without declaring it. */
  from?: (route: Route) => boolean
}

const every = () => true

export const statuses: readonly Row[] = [
  { status: 404, meaning: "Does not exist", errors: /NotFound$/ },
  {
    status: 400,
    meaning: "The request is invalid; the message says where",
    errors: /^(Invalid|Unknown|Bad)|Invalid$/,
    from: every,
  },
  {
    status: 409,
    meaning: "Busy, locked, existing already, changed meanwhile, stopped before the end, or nothing to redo",
    errors: /(Busy|Locked|Exists|Conflict|Interrupted|Limit|Looping|Held|Mismatch|Redo|TakenOver)$/,
  },
  {
    status: 403,
    meaning: "Foreign Origin, denied, or not allowed for the role of the person",
    errors: /(Denied|Outside|Untrusted)$/,
    from: every,
  },
  {
    status: 401,
    meaning: "No token, or one that is wrong, revoked or expired",
    from: ({ role }) => role !== "open",
  },
  { status: 405, meaning: "Another method is needed; see Allow" },
  { status: 408, meaning: "The request took too long to arrive", from: every },
  {
    status: 413,
    meaning: "The body is too large, or exceeds the model's context window",
    errors: /Full$/,
    from: every,
  },
  { status: 415, meaning: "The body is not application/json", from: (route) => route.body !== undefined },
  { status: 417, meaning: "Expects something other than 100-continue", from: every },
  { status: 421, meaning: "No Host, or a foreign one", from: every },
  { status: 429, meaning: "Too many prompts are waiting; see Retry-After", errors: /^TooMany/ },
  { status: 431, meaning: "The headers are too large", from: every },
  { status: 500, meaning: "The server failed", from: every },
  { status: 501, meaning: "The server has no database, and this needs one", errors: /^NoDatabase$/ },
  {
    status: 502,
    meaning: "The project, or the database, cannot be reached",
    errors: /^Unreachable$/,
    from: every,
  },
]

/** The error statuses of a route. */
export function statusesOf(route: Route): number[] {
  return statuses
    .filter(({ status, from }) => from?.(route) || route.errors?.includes(status))
    .map(({ status }) => status)
}

/** The status of an error by its name; 500 for unknown errors. */
export function statusOf(name: string): number {
  const word = name.split(".").at(-1) ?? ""
  return statuses.find(({ errors }) => errors?.test(word))?.status ?? 500
}

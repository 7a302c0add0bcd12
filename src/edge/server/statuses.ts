// The statuses of refusals and failures: what they mean, and which errors of other folders become one. Those know
// nothing of HTTP; the last part of their name ("Storage.NotFound") tells what kind they are.

type Row = {
  status: number
  meaning: string
  /** Which errors, by the last part of their name. The first row that fits counts. */
  errors?: RegExp
  /** Any route may answer so, whatever it declares. */
  always: boolean
}

export const statuses: readonly Row[] = [
  { status: 404, meaning: "Does not exist", errors: /NotFound$/, always: false },
  {
    status: 400,
    meaning: "Something in the request is wrong; the message says where",
    errors: /^(Invalid|Unknown|Bad)|Invalid$/,
    always: true,
  },
  {
    status: 409,
    meaning: "Busy, locked, there already, changed since, or stopped before its end",
    errors: /(Busy|Locked|Exists|Conflict|Interrupted|Limit|Looping)$/,
    always: false,
  },
  { status: 403, meaning: "Foreign Origin, or denied", errors: /(Denied|Outside|Untrusted)$/, always: true },
  { status: 401, meaning: "No token, or a wrong one", always: true },
  { status: 405, meaning: "Another method is needed; see Allow", always: true },
  { status: 408, meaning: "The request took too long to arrive", always: true },
  {
    status: 413,
    meaning: "The body is too large, or more than the model takes",
    errors: /Full$/,
    always: true,
  },
  { status: 415, meaning: "The body is not application/json", always: true },
  { status: 417, meaning: "Expects something other than 100-continue", always: true },
  { status: 421, meaning: "No Host, or a foreign one", always: true },
  { status: 431, meaning: "The headers are too large", always: true },
  { status: 500, meaning: "The server failed", always: true },
]

/** The status of an error by its name. What is not listed is a failure of ours. */
export function statusOf(name: string): number {
  const word = name.split(".").at(-1) ?? ""
  return statuses.find(({ errors }) => errors?.test(word))?.status ?? 500
}

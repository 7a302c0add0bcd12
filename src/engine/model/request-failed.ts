// The error for a request that failed for good. It says in one line: provider and address, status, the provider's
// message, where the key came from, and what to do.
import * as Provider from "#ability/provider/provider.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { Stalled } from "./ask-model.ts"
import type { Chosen } from "./choose-model.ts"
import { EmptyAnswer, ProviderFault, Unfinished } from "./collect.ts"
import { type Facts, factsOf, isOutOfQuota, isRefused } from "./retry.ts"

const maxSaid = 300
const noServer = "no server answers (connection refused)"

/** The error for a person; one that is not about a provider stays as it is. */
export async function explainFailure(error: unknown, chosen: Chosen): Promise<unknown> {
  if (!isAboutProvider(error)) return error
  const { providerId, modelId } = chosen
  const { statusCode, url } = factsOf(error)
  const status = statusCode !== undefined && statusCode >= 300 ? statusCode : undefined
  const at = originOf(url)
  const who = at ? `${providerId} (${at})` : providerId
  const said = isRefused(error) && url ? noServer : saidBy(factsOf(error))
  const what = status === undefined ? said : `answered ${status}${said ? `: ${said}` : ""}`
  const isKey = (status === 401 || status === 403) && !isOutOfQuota(error)
  const remedy = isKey ? await aboutKey(providerId) : remedyFor({ error, status, providerId, modelId })
  const text = [`${who} ${status === undefined ? `failed: ${what}` : what}`, remedy]
  const message = text.filter(Boolean).map(sentence).join(" ")
  const data = { provider: providerId, ...(status === undefined ? {} : { status }) }
  return new NamedError("Session.RequestFailed", message, data, { cause: error })
}

/** The reason why a request failed in a few words, for a line about a retry. */
export function shortFailure(error: unknown): string {
  const { statusCode, url } = factsOf(error)
  if (isRefused(error) && url) return `${noServer} at ${originOf(url)}`
  const said = saidBy(factsOf(error))
  return statusCode !== undefined && statusCode >= 300 ? `${statusCode}${said ? ` (${said})` : ""}` : said
}

function isAboutProvider(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof EmptyAnswer) return false
  return (
    [Unfinished, ProviderFault, Stalled].some((kind) => error instanceof kind) ||
    error.name.startsWith("AI_") ||
    factsOf(error).statusCode !== undefined ||
    isMalformed(error)
  )
}

/** The first line, without the details that validation libraries print below it. */
function saidBy({ message = "", name = "" }: Facts): string {
  if (isMalformed({ name, message })) return "its answer does not follow its API"
  const line = message.trim().split("\n", 1)[0]!
  return line.length > maxSaid ? `${line.slice(0, maxSaid)}…` : line
}

/** The Anthropic client looks for an error in an unreadable event, and throws a plain error if there is none. */
function isMalformed({ name = "", message = "" }: Facts): boolean {
  return /^AI_(TypeValidation|JSONParse)Error$/.test(name) || /^Expected a normalized .+ error$/.test(message)
}

function originOf(url: string | undefined): string | undefined {
  const parsed = url === undefined ? null : URL.parse(url)
  return parsed ? parsed.origin : undefined
}

/** Where the key came from, and how to change it: the configuration wins over a variable, and a variable over a
 * login. */
async function aboutKey(providerId: string): Promise<string> {
  const { source, variable } = await Provider.auth(providerId)
  const login = `run: ${ownCommand} auth login ${providerId}`
  if (source === "config")
    return `The key is provider.${providerId}.apiKey of the configuration. Change it there: ${ownCommand} config show`
  if (source === "environment")
    return `The key came from ${variable}. Set it to another key, or unset it and ${login}`
  if (source === "login")
    return `The key came from ${ownCommand} auth login. To keep another one, ${login}, or set ${variable}`
  return `No key was sent. Set ${variable}, or ${login}`
}

function remedyFor(facts: {
  error: unknown
  status: number | undefined
  providerId: string
  modelId: string
}): string {
  const { error, status, providerId } = facts
  if (isOutOfQuota(error)) return "The account has no credit or quota left: add some, or use another --model"
  if (status === 404) return `Check the model's name: ${ownCommand} models ${providerId}`
  if (status === 429) return "Wait a while, or use another --model"
  if (status !== undefined && status >= 500) return "Try again later, or use another --model"
  if (isMalformed(factsOf(error)) || error instanceof Unfinished) return "Try again, or use another --model"
  if (isRefused(error))
    return `Start the server, or check its address (provider.${providerId}.baseURL): ${ownCommand} doctor`
  if (status === undefined && /connect/i.test(factsOf(error).message ?? ""))
    return `Check the address and the network: ${ownCommand} doctor`
  return ""
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

// Push notifications: a client registers an address, and each change of the task is posted to it. The address passes the
// same checks as a page that the agent fetches, when it is registered and before every request: no private addresses
// unless a rule of the person names them, and the address that was checked is the one that is connected to.
import { lookup } from "node:dns/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { A2A_CONTENT_TYPE, StreamResponse, type TaskPushNotificationConfig } from "@a2a-js/sdk"
import { RequestMalformedError } from "@a2a-js/sdk/errors"
import { namesOrigin } from "#ability/call/judge-step.ts"
import * as Permission from "#ability/permission/permission.ts"
import { type Checked, checkUrl, UrlDenied } from "#ability/web/check-url.ts"
import { requestPage } from "#ability/web/request-page.ts"
import * as Config from "#kernel/config/config.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { createId } from "#util/id.ts"
import type { TaskRecord } from "./task-record.ts"

const maxConfigs = 20
const maxText = 4_000
const attempts = 3
const timeout = 10_000
/** Milliseconds before the second attempt; the third waits twice as long. */
const pause = 500
/** What HTTP allows in a header. */
const headerText = /^[\t\x20-\x7e]*$/

/** Checks a configuration; throws if the protocol or the rules forbid it. */
export async function checkConfig(
  config: TaskPushNotificationConfig,
  { taskId, rules }: { taskId: string; rules: readonly Permission.Rule[] },
): Promise<TaskPushNotificationConfig> {
  const { scheme = "", credentials = "" } = config.authentication ?? {}
  for (const text of [config.url, config.token, config.id, scheme, credentials])
    if (text.length > maxText || !headerText.test(text))
      throw new RequestMalformedError(
        `A field of the push configuration is longer than ${maxText} or not plain text`,
      )
  await checkTarget(config.url, rules)
  return { ...config, id: config.id || createId("push"), taskId }
}

/** The configurations of a task with this one, which replaces one with the same id. */
export function withConfig(
  all: TaskPushNotificationConfig[],
  config: TaskPushNotificationConfig,
): TaskPushNotificationConfig[] {
  const others = all.filter(({ id }) => id !== config.id)
  if (others.length < maxConfigs) return [...others, config]
  throw new RequestMalformedError(`A task can have ${maxConfigs} push configurations`)
}

/** Posts an update to every address of a task, and waits for the answers. Failures are logged only. */
export async function notify(
  { push }: Pick<TaskRecord, "push">,
  update: StreamResponse,
  rules: readonly Permission.Rule[],
): Promise<void> {
  const body = Secret.redactJson(JSON.stringify(StreamResponse.toJSON(update)))
  await Promise.all(push.map((config) => deliver(config, body, rules)))
}

async function deliver(
  config: TaskPushNotificationConfig,
  body: string,
  rules: readonly Permission.Rule[],
): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      const status = await post(await checkTarget(config.url, rules), config, body)
      if (status < 400) return
      Log.warn("a push notification was refused", { url: config.url, status })
      if (status < 500) return
    } catch (error) {
      Log.warn("a push notification could not be sent", { url: config.url, error })
      if (error instanceof RequestMalformedError) return
    }
    if (attempt < attempts) await sleep(pause * attempt)
  }
}

/** Redirects are not followed: nobody checked where they lead. */
async function post(
  target: Checked,
  { authentication, token }: TaskPushNotificationConfig,
  body: string,
): Promise<number> {
  const headers = {
    "content-type": A2A_CONTENT_TYPE,
    ...(authentication ? { authorization: `${authentication.scheme} ${authentication.credentials}` } : {}),
    ...(token ? { "x-a2a-notification-token": token } : {}),
  }
  const response = await requestPage(target, { signal: AbortSignal.timeout(timeout), headers, body })
  response.destroy()
  return response.statusCode ?? 0
}

async function checkTarget(given: string, rules: readonly Permission.Rule[]): Promise<Checked> {
  const url = URL.parse(given)
  const need = { permission: "network.fetch", target: url?.href ?? given }
  const decision = Permission.evaluate(need, ...(await Config.rules()), { source: "session", rules })
  if (decision.action === "deny")
    throw new RequestMalformedError(`The rules of the server deny ${JSON.stringify(given)}`)
  const granted = url && namesOrigin(decision, url.origin) ? [url.origin] : []
  try {
    return await checkUrl(given, { resolve: addressesOf, granted })
  } catch (error) {
    if (error instanceof UrlDenied) throw new RequestMalformedError(error.message)
    throw error
  }
}

async function addressesOf(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

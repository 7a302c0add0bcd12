// The first choice of a model, and /login: paste the key of a provider or sign in at one and choose its model, use a model
// server that was found, or go on with the built-in rules. The choice is remembered; a key is never shown.
import type { Client } from "#client/client.ts"
import type { Line } from "#edge/tui/screen/line.ts"
import type { Ask } from "./ask.ts"
import { waitForLogin } from "./browser-login.ts"
import type { Item } from "./list-panel.ts"

type Options = {
  client: Client
  ask: Ask
  /** A notice between the messages. */
  say(text: string): void
  print(lines: Line[]): void
  /** The next prompts are answered by this model. */
  useModel(model: string): Promise<void>
}

type Choice =
  | { kind: "key" }
  | { kind: "model"; model: string }
  | { kind: "keys" }
  | { kind: "sign in"; provider: string }

const offline = "local/rules"

/** Uses the remembered model. True if nothing names a model and nobody was asked yet. */
export async function useRemembered({
  client,
  useModel,
}: Pick<Options, "client" | "useModel">): Promise<boolean> {
  const { isNeeded, model } = await client.getFirstChoice()
  if (model) await useModel(model)
  return isNeeded
}

/** `provider` goes straight to its key. */
export async function signIn(options: Options, provider?: string): Promise<void> {
  const { client, say, useModel } = options
  const model = provider ? await pasteKey(options, provider) : await chooseWay(options)
  await client.saveFirstChoice(model ? { model } : {})
  if (model) {
    await useModel(model)
    say(`${model} answers.`)
  } else say(`No model was chosen. ${offline} answers offline, with fixed rules; /login asks again.`)
}

async function chooseWay(options: Options): Promise<string | undefined> {
  const [{ found }, providers] = await Promise.all([
    options.client.getFirstChoice(),
    options.client.listProviders(),
  ])
  const withKey = providers.filter(({ hasKey, models }) => hasKey && models.length)
  const items: Item<Choice>[] = [
    ...found.map(({ model, baseURL }) => ({
      value: { kind: "model" as const, model },
      label: `use ${model}`,
      detail: `found at ${baseURL}`,
    })),
    ...(withKey.length
      ? [
          {
            value: { kind: "keys" as const },
            label: "choose a model",
            detail: `there is a key for ${withKey.map(({ name }) => name).join(", ")}`,
          },
        ]
      : []),
    { value: { kind: "key" }, label: "paste an API key", detail: "it is stored for you only" },
    ...providers
      .filter(({ canSignIn, hasKey }) => canSignIn && !hasKey)
      .map(({ id, name }) => ({
        value: { kind: "sign in" as const, provider: id },
        label: `sign in at ${name}`,
        detail: "with a browser, no key to paste",
      })),
    {
      value: { kind: "model", model: offline },
      label: `go on with ${offline}`,
      detail: "offline, fixed rules",
    },
  ]
  const choice = await options.ask.choose({ title: "Which model should answer?", items })
  if (!choice) return undefined
  if (choice.kind === "model") return choice.model
  if (choice.kind === "sign in") return signInAt(options, choice.provider)
  if (choice.kind === "keys") return chooseModel(options, (id) => withKey.some((one) => one.id === id))
  const provider = await options.ask.choose({
    title: "Key of which provider?",
    items: providers
      .filter(({ models }) => models.some(({ provider }) => provider !== "local"))
      .map(({ id, name, hasKey }) => ({
        value: id,
        label: id,
        detail: hasKey ? `${name}, has a key already` : name,
      })),
  })
  // Who leaves here gets the choice again.
  return provider === undefined ? chooseWay(options) : pasteKey(options, provider)
}

async function pasteKey(options: Options, provider: string): Promise<string | undefined> {
  const key = await options.ask.readSecret(`Key for ${provider}`)
  if (!key) return undefined
  await options.client.storeKey({ id: provider, key })
  options.say(`Stored the key for ${provider}.`)
  return chooseModel(options, (id) => id === provider)
}

async function signInAt(options: Options, id: string): Promise<string | undefined> {
  const { client, ask, print, say } = options
  const { url } = await client.startProviderLogin({ id })
  const wait = () => client.waitForProviderLogin({ id })
  const cancel = () => client.cancelProviderLogin({ id })
  try {
    await waitForLogin({ ...{ url, ask, print, wait, cancel }, where: `at ${id}` })
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    // Another way may work.
    return chooseWay(options)
  }
  say(`You are signed in at ${id}.`)
  return chooseModel(options, (provider) => provider === id)
}

async function chooseModel(
  options: Options,
  isFrom: (provider: string) => boolean,
): Promise<string | undefined> {
  const models = (await options.client.listUsableModels()).filter(({ provider }) => isFrom(provider))
  const items = models.map(({ provider, id, name }) => ({
    value: `${provider}/${id}`,
    label: `${provider}/${id}`,
    detail: name,
  }))
  return options.ask.choose({ title: "Which model?", items })
}

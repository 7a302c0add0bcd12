// The first choice of a model, and /login: paste the key of a provider and choose its model, use a model server that was
// found, or go on with the built-in rules. The choice is remembered; a key is never shown.
import type { Client } from "#client/client.ts"
import type { Key } from "#edge/tui/input/key.ts"
import type { Tail, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf } from "#edge/tui/screen/width.ts"
import { createList, type Item } from "./list-panel.ts"
import type { Open, Panel } from "./panel.ts"
import { createTextLine } from "./text-line.ts"

type Options = {
  client: Client
  open: Open
  changed(): void
  /** A notice between the messages. */
  say(text: string): void
  /** The next prompts are answered by this model. */
  useModel(model: string): Promise<void>
}

type Choice = { kind: "key" } | { kind: "model"; model: string } | { kind: "keys" }

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
  if (model) await useModel(model)
  else say(`No model was chosen. ${offline} answers offline, with fixed rules; /login asks again.`)
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
    {
      value: { kind: "model", model: offline },
      label: `go on with ${offline}`,
      detail: "offline, fixed rules",
    },
  ]
  const choice = await choose(options, "Which model should answer?", items)
  if (!choice) return undefined
  if (choice.kind === "model") return choice.model
  if (choice.kind === "keys") return chooseModel(options, (id) => withKey.some((one) => one.id === id))
  const provider = await choose(
    options,
    "Key of which provider?",
    providers
      .filter(({ models }) => models.some(({ provider }) => provider !== "local"))
      .map(({ id, name, hasKey }) => ({
        value: id,
        label: id,
        detail: hasKey ? `${name}, has a key already` : name,
      })),
  )
  return provider === undefined ? undefined : pasteKey(options, provider)
}

async function pasteKey(options: Options, provider: string): Promise<string | undefined> {
  const key = await options.open<string>((done) => createKeyPanel(provider, done))
  if (!key) return undefined
  await options.client.storeKey({ id: provider, key })
  options.say(`Stored the key for ${provider}.`)
  return chooseModel(options, (id) => id === provider)
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
  return choose(options, "Which model?", items)
}

function choose<T>(
  { open, changed }: Options,
  title: string,
  items: readonly Item<T>[],
): Promise<T | undefined> {
  return open<T>((done) => createList<T>({ title, items, changed, done }))
}

/** One masked line. */
function createKeyPanel(provider: string, done: (key: string | undefined) => void): Panel {
  const line = createTextLine("", { isSecret: true })

  function handle(key: Key): boolean {
    if (key.name === "escape" || (key.ctrl && key.name === "c")) done(undefined)
    else if (key.name === "enter") done(line.text.trim() || undefined)
    else return line.handle(key)
    return true
  }

  function view({ columns, paint }: View): Tail {
    const label = cutTo(
      `Key for ${safeLine(provider)} (enter stores it, esc leaves): `,
      Math.max(4, columns - 8),
    )
    const input = line.view(Math.max(4, columns - widthOf(label) - 1))
    return {
      lines: [paint("strong", label) + input.line],
      caret: { row: 0, column: widthOf(label) + input.column },
    }
  }

  return Object.freeze({ view, handle })
}

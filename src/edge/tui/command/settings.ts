// Commands that choose: the model, the agent, the approval preset, the colours, and the key of a provider.
import { themeChoices } from "#edge/tui/screen/theme.ts"
import type { Command, Context } from "./context.ts"
import { presetsFor } from "./preset.ts"

export const modelCommand: Command = {
  name: "model",
  about: "choose the model",
  argument: "[provider/model]",
  async values({ client }) {
    const models = await client.listUsableModels()
    return models.map(({ provider, id, name }) => ({
      value: `${provider}/${id}`,
      ...(name === id ? {} : { about: name }),
    }))
  },
  async run(context, rest) {
    const { client, talk, say } = context
    const current = talk.session?.model ?? talk.session?.fallbackModel ?? talk.model
    const model = rest || (await ask())
    if (!model) return
    await talk.choose({ model })
    say(`${model} answers from the next prompt on`)

    async function ask(): Promise<string | undefined> {
      const models = await client.listUsableModels()
      const items = models.map(({ provider, id, name, context: window }) => {
        const value = `${provider}/${id}`
        const detail = [name === id ? "" : name, window ? `${Math.round(window / 1000)}k tokens` : ""]
        return {
          value,
          label: value,
          detail: detail.filter(Boolean).join(", "),
          isCurrent: value === current,
        }
      })
      // A model that no catalog names can be used too.
      const isListed = current === undefined || items.some(({ value }) => value === current)
      const unlisted = isListed ? [] : [{ value: current, label: current, isCurrent: true }]
      return context.ask.choose({ title: "Model", items: [...unlisted, ...items] })
    }
  },
}

export const agentCommand: Command = {
  name: "agent",
  about: "choose the agent",
  argument: "[name]",
  async values({ client }) {
    const agents = (await client.listAgents()).filter(({ mode }) => mode === "primary")
    return agents.map(({ id, metadata }) => ({ value: id, about: metadata.description }))
  },
  async run(context, rest) {
    const { client, talk, say } = context
    const agent = rest || (await ask())
    if (!agent) return
    // An unknown one is refused here, not with the first prompt.
    await client.getAgent({ id: agent })
    await talk.choose({ agent })
    say(`${agent} does the work from the next prompt on`)

    async function ask(): Promise<string | undefined> {
      const agents = (await client.listAgents()).filter(({ mode }) => mode === "primary")
      const current = talk.session?.agent ?? talk.agent
      const items = agents.map(({ id, metadata }) => ({
        value: id,
        label: id,
        detail: metadata.description,
        isCurrent: id === current,
      }))
      return context.ask.choose({ title: "Agent", items })
    }
  },
}

export const modeCommand: Command = {
  name: "mode",
  about: "choose the approval preset: ask, accept edits, plan; in a sandbox also sandboxed",
  argument: "[preset]",
  values: () => presetsFor(false).map((value) => ({ value })),
  async run(context, rest) {
    const { talk } = context
    const { presets } = talk
    const preset = rest ? named(presets, rest) : await pick(context, "Mode", presets, talk.preset)
    if (preset) await talk.setPreset(preset)
  },
}

export const themeCommand: Command = {
  name: "theme",
  about: "choose the colours: auto, dark, light",
  argument: "[theme]",
  values: () => themeChoices.map((value) => ({ value })),
  async run(context, rest) {
    const { theme, say } = context
    const choice = rest ? named(themeChoices, rest) : await pick(context, "Theme", themeChoices, theme.choice)
    if (!choice) return
    theme.choose(choice)
    say(choice === "auto" ? "the colours follow your terminal" : `the colours are for ${choice} terminals`)
  },
}

export const loginCommand: Command = {
  name: "login",
  about: "paste a key or sign in, and choose the model",
  argument: "[provider]",
  async run({ signIn }, rest) {
    // The rest may be a key, so it is not shown.
    if (/\s/.test(rest)) throw new Error("/login takes a provider only. It asks for the key and masks it.")
    await signIn(rest || undefined)
  },
}

function named<T extends string>(choices: readonly T[], text: string): T {
  const found = choices.find((choice) => choice === text || choice.replace(" ", "-") === text)
  if (found) return found
  throw new Error(`"${text}" is not one of: ${choices.join(", ")}`)
}

function pick<T extends string>(context: Context, title: string, choices: readonly T[], current: string) {
  const items = choices.map((value) => ({ value, label: value, isCurrent: value === current }))
  return context.ask.choose<T>({ title, items })
}

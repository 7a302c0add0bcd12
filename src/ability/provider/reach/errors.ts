// Errors before a request is sent. Each message names what would work.
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { ownCommand } from "#util/own-command.ts"

export class UnknownProvider extends NamedError {
  constructor(providerId: string, known: string[]) {
    const near = nearestNames(providerId, known)
    const hint = near.length > 0 ? `Did you mean ${list(near)}?` : `Known: ${known.join(", ")}.`
    super(
      "Provider.UnknownProvider",
      `Provider "${providerId}" does not exist. ${hint} Your own server: provider.${providerId}.baseURL in the configuration.`,
      { providerId, nearest: near },
    )
  }
}

export class UnknownModel extends NamedError {
  constructor(options: { providerId: string; modelId: string; known: string[] }) {
    const { providerId, modelId, known } = options
    const near = nearestNames(modelId, known)
    const hint = near.length > 0 ? `Did you mean ${list(near)}?` : `All models: ${ownCommand} models.`
    super(
      "Provider.UnknownModel",
      `Provider "${providerId}" has no model "${modelId}". ${hint} A newer one: name it under provider.${providerId}.models in the configuration.`,
      { providerId, modelId, nearest: near },
    )
  }
}

/** A local model whose file was not added. */
export class NotAdded extends NamedError {
  constructor(modelId: string) {
    super(
      "Provider.NotAdded",
      `local/${modelId} needs its GGUF file. Say where it is: ${ownCommand} models add ./FILE.gguf --name ${modelId}`,
      { modelId },
    )
  }
}

export class MissingKey extends NamedError {
  constructor(providerId: string, variables: string[]) {
    super(
      "Provider.MissingKey",
      `Provider "${providerId}" needs a key. Set ${variables.join(" or ")}, or run: ${ownCommand} auth login ${providerId}`,
      { providerId, variables },
    )
  }
}

/** The most bytes of one message of an answer: an event of the stream, or a body that is not a stream. */
export const messageLimit = 16 << 20

export class MessageTooLarge extends NamedError {
  constructor(providerId: string) {
    super(
      "Provider.MessageTooLarge",
      `Provider "${providerId}" sent a message of more than ${messageLimit >> 20} MB. The answer was dropped; check provider.${providerId}.baseURL, or use another model.`,
      { providerId, limit: messageLimit },
    )
  }
}

/** A package that is not installed with the program. */
export class MissingPackage extends NamedError {
  constructor(
    providerId: string,
    options: { packages: string[]; command: string; hint?: string | undefined },
  ) {
    const { packages, command, hint } = options
    const what = `the ${packages.length === 1 ? "package" : "packages"} ${packages.join(" and ")}`
    super(
      "Provider.MissingPackage",
      `Provider "${providerId}" needs ${what}${hint ? `, or ${hint}` : ""}. Install: ${command}`,
      { providerId, packages },
    )
  }
}

/** A setting that is missing or cannot be used. */
export class Unusable extends NamedError {
  constructor(providerId: string, reason: string) {
    super("Provider.Unusable", `Provider "${providerId}" cannot be used: ${reason}`, { providerId })
  }
}

/** Up to three names: misspellings first, then names that contain the word. */
function nearestNames(word: string, known: string[]): string[] {
  const rest = new Set(known)
  const found: string[] = []
  for (let next = nearest(word, rest); next && found.length < 3; next = nearest(word, rest)) {
    found.push(next)
    rest.delete(next)
  }
  const longer = [...rest].filter((name) => word.length > 2 && name.includes(word))
  return [...found, ...longer].slice(0, 3)
}

function list(names: string[]): string {
  return names.map((name) => `"${name}"`).join(", ")
}

// Passes elicitations (questions of MCP servers and of the vault to the person) to the client. If the client does not support them, they
// are declined at once.
import {
  type AgentContext,
  type ClientCapabilities,
  type CreateElicitationResponse,
  type ElicitationPropertySchema,
  type ElicitationSchema,
  methods,
} from "@agentclientprotocol/sdk"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import { askerWords } from "#client/check-form.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"

type Asking = {
  client: AgentContext
  capabilities: ClientCapabilities
  sessionId: string
  request: Elicitation.Request
}

/** Ask the person, and reply to the server. Never throws. */
export async function askElicitation(asking: Asking): Promise<void> {
  const { request } = asking
  const isOpen = () => Elicitation.pending().some(({ id }) => id === request.id)
  const replied = new AbortController()
  const unsubscribe = Bus.subscribe(Elicitation.Replied, ({ id }) => {
    if (id === request.id) replied.abort()
  })
  try {
    const reply = await ask(asking, replied.signal)
    if (isOpen()) Elicitation.reply(request.id, reply)
  } catch (error) {
    Log.warn("the client's reply to an elicitation is invalid", { error: errorText(error) })
    if (isOpen()) Elicitation.reply(request.id, { action: "cancel" })
  } finally {
    unsubscribe()
  }
}

/** `replied` aborts the question when another client has replied. */
async function ask(asking: Asking, replied: AbortSignal): Promise<Elicitation.Reply> {
  const { client, capabilities, sessionId, request } = asking
  const { mode, server, url } = request
  if (!capabilities.elicitation?.[mode]) {
    Log.warn(`a question was declined: the ACP client cannot ask it (${askerWords(server)})`)
    return { action: "decline" }
  }
  const message = Secret.redact(`${askerWords(server)} asks: ${request.message}`)
  const how =
    mode === "url"
      ? { mode, url: url!, elicitationId: request.id }
      : { mode, requestedSchema: schemaOf(request.fields ?? []) }
  try {
    const response = await client.request(
      methods.client.elicitation.create,
      { sessionId, message, ...how },
      { cancellationSignal: replied, stopWaitingOnCancel: true },
    )
    return replyOf(response)
  } catch (error) {
    if (!replied.aborted)
      Log.warn("the ACP client failed to show an elicitation", { error: errorText(error) })
    return { action: "cancel" }
  }
}

function replyOf(response: CreateElicitationResponse): Elicitation.Reply {
  const { action, content } = response as { action: string; content?: Elicitation.Reply["content"] | null }
  if (action === "accept") return { action, ...(content ? { content } : {}) }
  return { action: action === "decline" ? "decline" : "cancel" }
}

function schemaOf(fields: readonly Elicitation.Field[]): ElicitationSchema {
  const required = fields.filter((field) => field.required).map(({ name }) => name)
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, propertyOf(field)])),
    ...(required.length ? { required } : {}),
  }
}

function propertyOf(field: Elicitation.Field): ElicitationPropertySchema {
  const { title, description, kind, options = [], min, max, format } = field
  const shared = {
    ...(title ? { title } : {}),
    ...(description ? { description } : {}),
    ...(field.default === undefined ? {} : { default: field.default }),
  }
  const choices = options.map(({ value, title }) => ({ const: value, title }))
  switch (kind) {
    case "boolean":
      return { ...shared, type: "boolean" } as ElicitationPropertySchema
    case "number":
    case "integer":
      return {
        ...shared,
        type: kind,
        ...bounds("minimum", "maximum", { min, max }),
      } as ElicitationPropertySchema
    case "choice":
      return { ...shared, type: "string", oneOf: choices } as ElicitationPropertySchema
    case "choices":
      return {
        ...shared,
        type: "array",
        items: { anyOf: choices },
        ...bounds("minItems", "maxItems", { min, max }),
      } as ElicitationPropertySchema
    case "text":
      return {
        ...shared,
        type: "string",
        ...(format ? { format } : {}),
        ...bounds("minLength", "maxLength", { min, max }),
      } as ElicitationPropertySchema
  }
}

function bounds(
  low: string,
  high: string,
  { min, max }: { min?: number | undefined; max?: number | undefined },
): Record<string, number> {
  return { ...(min === undefined ? {} : { [low]: min }), ...(max === undefined ? {} : { [high]: max }) }
}

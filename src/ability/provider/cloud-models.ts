// Models that a company uses through its cloud: Amazon Bedrock, Google Vertex and Azure OpenAI. The clouds' own packages find
// the account and sign the requests; they are large, so a person installs those that they need.
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { awsRegion } from "#ability/provider/reach/aws-region.ts"
import { authOf, type Connection, settingsOf } from "#ability/provider/reach/connection.ts"
import { MissingPackage, Unusable } from "#ability/provider/reach/errors.ts"
import { createProviderFetch } from "#ability/provider/reach/provider-fetch.ts"
import { type Account, providers } from "#ability/provider/reach/providers.ts"
import * as Env from "#kernel/process/env.ts"
import * as OptionalPackage from "#kernel/process/optional-package.ts"
import type { Info } from "#kernel/schema/schema.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"
import { acceptWhole } from "./accept-whole.ts"

type Bedrock = typeof import("@ai-sdk/amazon-bedrock")
type AwsAccount = typeof import("@aws-sdk/credential-providers")
type Vertex = typeof import("@ai-sdk/google-vertex")
type VertexAnthropic = typeof import("@ai-sdk/google-vertex/anthropic")
type AzureAccount = typeof import("@azure/identity")
type Resolved = { modelId: string; connection: Connection }

const folder = "clouds"
const packages: Record<Account, OptionalPackage.Info[]> = {
  aws: [
    { name: "@ai-sdk/amazon-bedrock", version: "5.0.101", folder },
    { name: "@aws-sdk/credential-providers", version: "3.1164.0", folder },
  ],
  google: [{ name: "@ai-sdk/google-vertex", version: "5.0.138", folder }],
  azure: [{ name: "@azure/identity", version: "4.14.1", folder }],
}
/** For signatures, if the address does not name one: a gateway of the company's own. */
const usualRegion = "us-east-1"
const azureScope = "https://cognitiveservices.azure.com/.default"

/** The providers that have the account of a cloud, the variable that says so, and the packages that are missing. */
export function findAccounts(config: Info) {
  return Object.entries(providers).flatMap(([id, { account }]) => {
    const { source, variable } = authOf(id, settingsOf(config, id))
    return account && source === "account" ? [{ id, variable, missing: missingPackages(account) }] : []
  })
}

/** The packages of a cloud that are missing, with the command that installs them. */
function missingPackages(account: Account): { names: string[]; command: string } | undefined {
  const missing = packages[account].filter((one) => !OptionalPackage.find(one))
  if (missing.length === 0) return undefined
  const [first, ...more] = missing
  const rest = more.map(({ name, version }) => ` ${name}@${version}`).join("")
  return { names: missing.map(({ name }) => name), command: OptionalPackage.installCommand(first!) + rest }
}

/** `loadChat` loads the model without an account. */
export async function loadCloudModel(
  resolved: Resolved,
  loadChat: () => Promise<LanguageModelV4>,
): Promise<LanguageModelV4> {
  const { id, account, apiKey } = resolved.connection
  const missing = missingPackages(account!)
  if (missing) {
    const hint = account === "azure" && !apiKey ? "a key in AZURE_API_KEY" : undefined
    throw new MissingPackage(id, { packages: missing.names, command: missing.command, hint })
  }
  if (account === "aws") return bedrockModel(resolved)
  return account === "google" ? vertexModel(resolved) : azureModel(resolved, await loadChat())
}

async function bedrockModel({ connection, modelId }: Resolved): Promise<LanguageModelV4> {
  const { createAmazonBedrock } = await load<Bedrock>("@ai-sdk/amazon-bedrock")
  const { id, baseURL, apiKey, headers } = connection
  const region = awsRegion() ?? usualRegion
  const { fromNodeProviderChain } = await load<AwsAccount>("@aws-sdk/credential-providers")
  // Remembers the credentials until they expire.
  const find = fromNodeProviderChain({ clientConfig: { region } })
  const credentialProvider = async () => {
    const found = await find().catch((error: unknown) => {
      throw noAccount(id, error, "set AWS_PROFILE, or run: aws sso login")
    })
    Secret.register(found.secretAccessKey, `${id} key`)
    Secret.register(found.sessionToken, `${id} token`)
    return found
  }
  const bedrock = createAmazonBedrock({
    region,
    baseURL,
    headers,
    fetch: createProviderFetch(id),
    // An empty key keeps the package from reading the environment.
    ...(apiKey ? { apiKey } : { apiKey: "", credentialProvider }),
  })
  const model = bedrock(modelId)
  return wrap(model, async ({ reasoning, ...options }) => {
    // The package would hide why there is no account, and the request would be tried again.
    if (!apiKey) await credentialProvider()
    // It knows no higher level.
    const level = reasoning === "max" ? "xhigh" : reasoning
    return model.doStream({ ...options, ...(level ? { reasoning: level } : {}) })
  })
}

async function vertexModel({ connection, modelId }: Resolved): Promise<LanguageModelV4> {
  const { id, wire, baseURL, custom, headers } = connection
  const fetch = redactingFetch(id)
  const [location, project] = [either("LOCATION"), either("PROJECT")]
  const options = { fetch, headers, ...(custom ? { baseURL } : {}), ...location, ...project }
  if (wire === "messages") {
    const name = "@ai-sdk/google-vertex"
    const { createGoogleVertexAnthropic } = await load<VertexAnthropic>(name, "dist/anthropic/index.js")
    return withAccount(id, createGoogleVertexAnthropic(options)(modelId))
  }
  const { createGoogleVertex } = await load<Vertex>("@ai-sdk/google-vertex")
  return withAccount(
    id,
    acceptWhole(fetch, (whole) => createGoogleVertex({ ...options, apiKey: "", fetch: whole })(modelId)),
  )
}

function either(name: string): Record<string, string> {
  const value = Env.get(`GOOGLE_VERTEX_${name}`)?.trim() || Env.get(`GOOGLE_CLOUD_${name}`)?.trim()
  return value ? { [name.toLowerCase()]: value } : {}
}

/** An error of the account is permanent, so it must not look like one of the network. */
function withAccount(id: string, model: LanguageModelV4): LanguageModelV4 {
  const todo = "set GOOGLE_APPLICATION_CREDENTIALS, or run: gcloud auth application-default login"
  return wrap(model, async (options) => {
    try {
      return await model.doStream(options)
    } catch (error) {
      throw /credentials|invalid_grant|refresh|metadata/i.test(errorText(error)) && !isAnswer(error)
        ? noAccount(id, error, todo)
        : error
    }
  })
}

function isAnswer(error: unknown): boolean {
  return typeof (error as { statusCode?: unknown }).statusCode === "number"
}

/** Entra: the account's token instead of a key, with our own client. */
async function azureModel({ connection }: Resolved, model: LanguageModelV4): Promise<LanguageModelV4> {
  const { DefaultAzureCredential } = await load<AzureAccount>("@azure/identity")
  const { id } = connection
  const credential = new DefaultAzureCredential()
  return wrap(model, async (options) => {
    const { token } = await credential.getToken(azureScope).catch((error: unknown) => {
      throw noAccount(id, error, "set AZURE_API_KEY, or run: az login")
    })
    Secret.register(token, `${id} token`)
    return model.doStream({ ...options, headers: { ...options.headers, authorization: `Bearer ${token}` } })
  })
}

function wrap(
  { provider, modelId, supportedUrls }: Pick<LanguageModelV4, "provider" | "modelId" | "supportedUrls">,
  doStream: LanguageModelV4["doStream"],
): LanguageModelV4 {
  const doGenerate = () => Promise.reject(new Error("A model of a cloud only streams."))
  return Object.freeze({ specificationVersion: "v4", provider, modelId, supportedUrls, doStream, doGenerate })
}

/** Registers the token of each request for redaction. */
function redactingFetch(id: string): typeof fetch {
  const send = createProviderFetch(id)
  return (input, init) => {
    const token = /^Bearer (.+)$/.exec(new Headers(init?.headers).get("authorization") ?? "")?.[1]
    Secret.register(token, `${id} token`)
    return send(input, init)
  }
}

function noAccount(id: string, error: unknown, todo: string): Unusable {
  const [reason] = errorText(error).split("\n")
  return new Unusable(id, `its account was not found (${reason}); ${todo}`)
}

/** Loads a package that is installed: its main file, or another one. */
async function load<T>(name: string, file?: string): Promise<T> {
  const info = Object.values(packages)
    .flat()
    .find((one) => one.name === name)!
  const main = OptionalPackage.find(info)!
  const path = file ? join(main.slice(0, main.lastIndexOf(name) + name.length), file) : main
  return import(pathToFileURL(path).href)
}

// Google Vertex and Azure OpenAI through the installed command and the real packages, with every usual account.
import assert from "node:assert/strict"
import { generateKeyPairSync } from "node:crypto"
import { chmodSync, cpSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { run as runProgram } from "../../../fixture/child.ts"
import { command, vitamin } from "../../../fixture/cli.ts"
import { azureToken, fakeCloud, googleToken } from "../../../fixture/cloud/fake-cloud.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const { publicKey, privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
})

type Account = (tmp: Tmp, url: string) => Record<string, string>

/** The library asks oauth2.googleapis.com, which the loopback proxy answers for. */
function credentials(tmp: Tmp, url: string, value: object): Record<string, string> {
  tmp.write("../google.json", JSON.stringify(value))
  return {
    GOOGLE_APPLICATION_CREDENTIALS: join(dirname(tmp.path), "google.json"),
    HTTPS_PROXY: url,
    NO_PROXY: "127.0.0.1",
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
  }
}

const google: Record<string, Account> = {
  "the key of a service account": (tmp, url) =>
    credentials(tmp, url, {
      type: "service_account",
      project_id: "acme",
      private_key_id: "k",
      private_key: privateKey,
      client_email: "agent@acme.iam.gserviceaccount.com",
      client_id: "1",
    }),
  "a person who has signed in": (tmp, url) =>
    credentials(tmp, url, {
      type: "authorized_user",
      client_id: "c",
      client_secret: "person-secret-canary",
      refresh_token: "refresh-canary-0123456789",
    }),
  "the metadata server": (_, url) => ({
    GCE_METADATA_HOST: new URL(url).host,
    METADATA_SERVER_DETECTION: "assume-present",
  }),
}

async function run(model: string, variables: Account) {
  await using tmp = await tmpdir({ git: true })
  await using cloud = await fakeCloud({ publicKey })
  const { code, out, err } = await vitamin(tmp, ["run", "--model", model, "hello"], variables(tmp, cloud.url))
  return { code, out, err, seen: cloud.seen }
}

const vertex: Account = (_, url) => ({
  GOOGLE_VERTEX_PROJECT: "acme",
  GOOGLE_VERTEX_LOCATION: "europe-west1",
  GOOGLE_VERTEX_BASE_URL: `${url}/v1/projects/acme/locations/europe-west1/publishers/google`,
  GOOGLE_VERTEX_ANTHROPIC_BASE_URL: `${url}/v1/projects/acme/locations/europe-west1/publishers/anthropic/models`,
})

for (const [where, account] of Object.entries(google))
  test(`Vertex gets the token of ${where}`, async () => {
    const { code, out, err, seen } = await run("google-vertex/gemini-2.5-pro", (tmp, url) => ({
      ...vertex(tmp, url),
      ...account(tmp, url),
    }))
    assert.equal(code, 0, err)
    assert.equal(out, "Vertex answers.")
    assert.match(seen[0]!.path, /\/publishers\/google\/models\/gemini-2\.5-pro:streamGenerateContent/)
    assert.ok(!err.includes(googleToken))
  })

test("Claude on Vertex gets the token too", async () => {
  const { code, out, err, seen } = await run(
    "google-vertex-anthropic/claude-sonnet-4-5@20250929",
    (tmp, url) => ({
      ...vertex(tmp, url),
      ...google["the key of a service account"]!(tmp, url),
    }),
  )
  assert.equal(code, 0, err)
  assert.equal(out, "Claude on Vertex answers.")
  assert.match(seen[0]!.path, /\/publishers\/anthropic\/models\/claude-sonnet-4-5@20250929:streamRawPredict$/)
})

test("a service account that Google does not know is an error that says what to do", async () => {
  const other = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey
  const { code, err, seen } = await run("google-vertex/gemini-2.5-pro", (tmp, url) => ({
    ...vertex(tmp, url),
    ...credentials(tmp, url, {
      type: "service_account",
      private_key: other.export({ type: "pkcs8", format: "pem" }),
      client_email: "agent@acme.iam.gserviceaccount.com",
    }),
  }))
  assert.equal(code, 1)
  assert.equal(seen.length, 0)
  assert.match(err, /its account was not found \(.*invalid_grant.*\).*gcloud auth application-default login/)
})

const azure: Record<string, Account> = {
  "a key": () => ({ AZURE_API_KEY: "azure-key-0123456789" }),
  "the identity of the machine (Entra)": (_, url) => ({
    IDENTITY_ENDPOINT: `${url}/msi/token`,
    IDENTITY_HEADER: "identity-canary-0123456789",
    AZURE_TOKEN_CREDENTIALS: "ManagedIdentityCredential",
  }),
  "the command az (Entra)": (tmp) => {
    const answer = {
      accessToken: azureToken,
      expiresOn: "2099-01-01 00:00:00.000000",
      expires_on: 4_070_908_800,
    }
    tmp.write("../bin/az", `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`)
    chmodSync(join(dirname(tmp.path), "bin/az"), 0o755)
    const PATH = `${join(dirname(tmp.path), "bin")}:${process.env.PATH}`
    return { PATH, AZURE_TOKEN_CREDENTIALS: "AzureCliCredential" }
  },
}
for (const [where, account] of Object.entries(azure))
  test(`Azure gets ${where}`, async () => {
    const { code, out, err, seen } = await run("azure/gpt-5", (tmp, url) => ({
      AZURE_BASE_URL: `${url}/openai/v1`,
      AZURE_RESOURCE_NAME: "acme",
      ...account(tmp, url),
    }))
    assert.equal(code, 0, err)
    assert.equal(out, "Azure answers.")
    assert.equal(seen[0]!.problem, undefined)
    assert.ok(!err.includes(azureToken))
  })

test("without its package a provider says which one to install, and so does vitamin doctor", async () => {
  await using tmp = await tmpdir({ git: true })
  const copy = join(dirname(tmp.path), "installed/dist")
  cpSync(dirname(command), copy, { recursive: true })
  const alone = async (args: string[], env: Record<string, string>) => {
    await using child = runProgram(process.execPath, [join(copy, "vitamin.js"), ...args], {
      cwd: tmp.path,
      env: { ...tmp.env, ...env },
    })
    child.process.stdin?.end()
    const code = await child.exit
    return { code, out: child.lines.join("\n"), err: child.errors() }
  }
  const aws = { AWS_REGION: "us-east-1", AWS_PROFILE: "team" }
  const model = "amazon-bedrock/anthropic.claude-haiku-4-5-20251001-v1:0"
  const { code, err } = await alone(["run", "--model", model, "hello"], aws)
  assert.equal(code, 1, err)
  const install =
    /npm install --prefix \S+ @ai-sdk\/amazon-bedrock@[\d.]+ @aws-sdk\/credential-providers@[\d.]+/
  assert.match(
    err,
    /Provider "amazon-bedrock" needs the packages @ai-sdk\/amazon-bedrock and @aws-sdk\/credential-providers/,
  )
  assert.match(err, install)
  const { out } = await alone(["doctor"], aws)
  assert.match(out.replaceAll(/\n\s+/g, " "), /note {2}clouds .*amazon-bedrock/)
  assert.match(out.replaceAll(/\n\s+/g, " "), install)
})

test("a cloud with an account is ready to be used, and its models are listed", async () => {
  await using tmp = await tmpdir({ git: true })
  const { out: ready } = await vitamin(tmp, ["auth", "list"], { AWS_PROFILE: "team" })
  assert.match(ready, /^amazon-bedrock +account$/m)
  assert.doesNotMatch(ready, /^(google-vertex|azure)/m)
  const { out: models } = await vitamin(tmp, ["models"], {})
  for (const id of ["amazon-bedrock", "google-vertex", "azure"]) assert.ok(models.includes(`\n${id}/`), id)
})

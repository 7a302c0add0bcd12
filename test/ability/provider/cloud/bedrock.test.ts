// Amazon Bedrock through the installed command and the real packages: the account is found in every usual place, and the
// loopback service checks each signature.
import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { chmodSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { connect } from "#ability/provider/reach/connection.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { awsKeys, fakeCloud } from "../../../fixture/cloud/fake-cloud.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { inInstance } from "../harness.ts"

const { accessKeyId, secretAccessKey, sessionToken } = awsKeys
const model = ["--model", "amazon-bedrock/anthropic.claude-haiku-4-5-20251001-v1:0"]
const profile = `[team]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\naws_session_token = ${sessionToken}\n`

/** Writes a file of the account and returns its path. */
function write(tmp: Tmp, name: string, text: string): string {
  tmp.write(`../aws/${name}`, text)
  return join(dirname(tmp.path), "aws", name)
}

const accounts: Record<string, (tmp: Tmp, url: string) => Record<string, string>> = {
  variables: () => ({
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  }),
  "a profile of the credentials file": (tmp) => ({
    AWS_PROFILE: "team",
    AWS_SHARED_CREDENTIALS_FILE: write(tmp, "credentials", profile),
  }),
  "a process that a profile names": (tmp) => {
    const answer = {
      Version: 1,
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      SessionToken: sessionToken,
    }
    const program = write(tmp, "get-keys.sh", `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`)
    chmodSync(program, 0o755)
    const config = write(tmp, "config", `[profile team]\ncredential_process = ${program}\n`)
    return { AWS_PROFILE: "team", AWS_CONFIG_FILE: config }
  },
  "the cache of a sign-on (SSO)": (tmp, url) => {
    const name = createHash("sha1").update("work").digest("hex")
    const session = {
      accessToken: "sso-token-canary",
      expiresAt: "2099-01-01T00:00:00Z",
      region: "us-east-1",
      startUrl: "https://example.com",
    }
    tmp.write(`../home/.aws/sso/cache/${name}.json`, JSON.stringify(session))
    const config = write(
      tmp,
      "config",
      "[profile team]\nsso_session = work\nsso_account_id = 123456789012\nsso_role_name = dev\n[sso-session work]\nsso_region = us-east-1\nsso_start_url = https://example.com\n",
    )
    return { AWS_PROFILE: "team", AWS_CONFIG_FILE: config, AWS_ENDPOINT_URL_SSO: url }
  },
  "the endpoint of a container": (_, url) => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container` }),
  "the endpoint of a machine": (_, url) => ({
    AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
    AWS_EC2_METADATA_DISABLED: "false",
  }),
}

async function run(variables: (tmp: Tmp, url: string) => Record<string, string>) {
  await using tmp = await tmpdir({ git: true })
  await using cloud = await fakeCloud()
  const { code, out, err } = await vitamin(tmp, ["run", ...model, "hello"], {
    AWS_REGION: "eu-central-1",
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: cloud.url,
    AWS_EC2_METADATA_DISABLED: "true",
    ...variables(tmp, cloud.url),
  })
  return { code, out, err, seen: cloud.seen }
}

for (const [where, variables] of Object.entries(accounts))
  test(`Bedrock gets requests that are signed with the account of ${where}`, async () => {
    const { code, out, err, seen } = await run(variables)
    assert.deepEqual(
      seen.map(({ problem }) => problem),
      [undefined],
      err,
    )
    assert.equal(code, 0, err)
    assert.equal(out, "Bedrock answers.")
    assert.match(String(seen[0]!.headers.authorization), /\/eu-central-1\/bedrock\/aws4_request/)
    assert.match(seen[0]!.body, /"cachePoint"/)
  })

const files = {
  config:
    "# all\n[default]\noutput = json\nregion = eu-west-1\n\n[profile  team]\ns3 =\n  region = us-gov-1\nregion=eu-west-3 ; Paris\n[sso-session team]\nregion = us-west-1\n",
  credentials: `[default]\n[other]\nregion = ap-south-1\n${profile}`,
}
const regions: [variables: Record<string, string>, region: string][] = [
  [{}, "eu-west-1"],
  [{ AWS_PROFILE: "team" }, "eu-west-3"],
  [{ AWS_DEFAULT_PROFILE: "other" }, "ap-south-1"],
  [{ AWS_PROFILE: "team", AWS_DEFAULT_REGION: "us-east-2" }, "us-east-2"],
  [{ AWS_DEFAULT_REGION: "us-east-2", AWS_REGION: "ca-central-1" }, "ca-central-1"],
]
for (const [variables, region] of regions)
  test(`Bedrock's region is ${region} with ${JSON.stringify(variables)}`, async () => {
    const { code, err, seen } = await run((tmp) => {
      tmp.write("../home/.aws/config", files.config)
      tmp.write("../home/.aws/credentials", files.credentials)
      const keys = variables.AWS_PROFILE ? {} : accounts.variables!(tmp, "")
      return { AWS_REGION: "", ...keys, ...variables }
    })
    assert.equal(code, 0, err)
    assert.equal(seen[0]!.problem, undefined)
    assert.match(String(seen[0]!.headers.authorization), new RegExp(`/${region}/bedrock/aws4_request`))
  })

test("the address of Bedrock has the region of the profile, and without one the error says where it was looked for", () => {
  const config = { AWS_REGION: "", AWS_DEFAULT_REGION: "", AWS_PROFILE: "team", AWS_DEFAULT_PROFILE: "" }
  return inInstance({ variables: config }, async (path) => {
    const file = join(path, "aws")
    process.env.AWS_CONFIG_FILE = file
    process.env.AWS_SHARED_CREDENTIALS_FILE = file
    try {
      assert.throws(
        () => connect({ id: "amazon-bedrock", settings: {} }),
        /AWS_REGION or AWS_DEFAULT_REGION is not set, the profile has no region, and its address is/,
      )
      writeFileSync(file, "[profile team]\nregion = eu-west-3\n")
      const { baseURL } = connect({ id: "amazon-bedrock", settings: {} })
      assert.equal(baseURL, "https://bedrock-runtime.eu-west-3.amazonaws.com")
    } finally {
      delete process.env.AWS_CONFIG_FILE
      delete process.env.AWS_SHARED_CREDENTIALS_FILE
    }
  })
})

test("Bedrock's API key is used as it is", async () => {
  const { code, out, err, seen } = await run(() => ({ AWS_BEARER_TOKEN_BEDROCK: "bedrock-key-0123456789" }))
  assert.equal(code, 0, err)
  assert.equal(out, "Bedrock answers.")
  assert.equal(seen[0]!.problem, undefined)
})

test("a wrong secret is refused, and it is not shown", async () => {
  const wrong = "another-secret-canary-0123456789abcdef"
  const { code, out, err, seen } = await run(() => ({
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: wrong,
  }))
  assert.notEqual(code, 0)
  assert.match(String(seen[0]!.problem), /another session token|a wrong signature/)
  assert.ok(!`${out}${err}`.includes(wrong))
})

test("without an account the error says what to do, at once", async () => {
  const { code, err, seen } = await run(() => ({}))
  assert.equal(code, 1)
  assert.equal(seen.length, 0)
  assert.match(
    err,
    /Provider "amazon-bedrock" cannot be used: its account was not found \(.+\); set AWS_PROFILE, or run: aws sso login/,
  )
  assert.doesNotMatch(err, /retr/i)
})

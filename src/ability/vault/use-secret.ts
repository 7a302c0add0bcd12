// The tool `secrets_use`: passes a secret to a command in its environment, or to a server in a header. The value is never an
// argument of a process, and outputs are redacted.
import { isIP } from "node:net"
import { z } from "zod"
import * as KeptFolder from "#ability/call/kept-folder.ts"
import type { Context, Definition, Need, Output } from "#ability/call/types.ts"
import { runCommand } from "#ability/shell/exec.ts"
import { createRecord } from "#ability/shell/record.ts"
import { commandPolicy } from "#ability/shell/sandboxed.ts"
import { ofInstance } from "#ability/shell/shells.ts"
import { isCredentialName } from "#kernel/process/is-credential-name.ts"
import { NamedError } from "#util/error.ts"
import { personOf } from "./ask-person.ts"
import { Name } from "./secret-tools.ts"
import * as Vault from "./vault.ts"

const defaultTimeout = 120
const maxTimeout = 3_600
/** Headers that decide where a request goes or where it ends. */
const framing =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*)$/i

const Parameters = z
  .strictObject({
    name: Name,
    command: z.string().min(1).optional(),
    env: z
      .string()
      .refine(
        isForSecrets,
        "expected a variable that is named like a credential: GITHUB_TOKEN, API_KEY, PGPASSWORD, DATABASE_URL",
      )
      .optional()
      .describe("variable with the value, for command"),
    timeout: z.int().min(1).max(maxTimeout).optional().describe(`seconds, default ${defaultTimeout}`),
    url: z
      .string()
      .refine(isSafe, "expected an https URL, or one of this machine, without user name or password")
      .optional(),
    header: z
      .string()
      .regex(/^[\w!#$%&'*+.^`|~-]+$/, "expected the name of a header")
      .refine((name) => !framing.test(name), "this header cannot be set")
      .optional()
      .describe("header with the value, for url"),
    prefix: z
      .string()
      .regex(/^[\x20-\x7e]*$/, "expected plain ASCII")
      .optional()
      .describe("text before the value in the header, such as `Bearer `"),
    show: z.boolean().optional().describe("return the value itself; denied unless a rule allows it"),
  })
  .refine(
    ({ command, url, show }) =>
      [command, url, show || undefined].filter((way) => way !== undefined).length === 1,
    "give exactly one of command, url and show",
  )
  .refine(
    ({ command, env }) => (command === undefined) === (env === undefined),
    "command and env go together",
  )
  .refine(({ url, header }) => (url === undefined) === (header === undefined), "url and header go together")
type Args = z.infer<typeof Parameters>

class NotUsable extends NamedError {
  constructor(message: string) {
    super("Vault.NotUsable", message)
  }
}

export const manual = {
  example: { name: "deploy-token", command: "./deploy.sh", env: "DEPLOY_TOKEN" },
  arguments: {
    name: "Secret to use.",
    command: "Command line for bash; needs `bash.execute` too.",
    env: "Variable of the command that has the value. Its name must be that of a credential.",
    timeout: `Seconds until the command is ended, at most ${maxTimeout}.`,
    url: "Address to get, https or on this machine; needs `network.fetch` too.",
    header: "Header of the request that has the value. It follows no redirect to another origin.",
    prefix: "Text before the value in the header.",
    show: "Return the value; needs `secret.show` too, which only a rule of yours allows.",
  },
  limits: "The value is redacted in the output, also in base64, hex and URL encoding, wrapped at any width.",
}

export const secretsUse = {
  id: "secrets_use",
  onlyNamed: true,
  description:
    "Use a secret by its name: run `command` with the value in the variable `env`, or get `url` with the value in `header`. You never see the value. In a command, let the program read the variable; as an argument, other processes could see the value.",
  category: "data",
  parameters: Parameters,
  readOnly: false,
  permission: ({ name, command, url, show }: Args): Need[] => [
    { permission: "secret.use", target: name },
    ...(command === undefined ? [] : [{ permission: "bash.execute", target: command }]),
    ...(url === undefined ? [] : [{ permission: "network.fetch", target: URL.parse(url)?.href ?? url }]),
    ...(show ? [{ permission: "secret.show", target: name }] : []),
  ],
  async execute(args: Args, context: Context): Promise<Output> {
    const entry = await Vault.get(args.name, "secret", personOf(context))
    if (args.command !== undefined) return run(args.command, { [args.env!]: entry.value }, args, context)
    if (args.url !== undefined) return request(args, entry.value, context)
    Vault.reveal(entry, context.sessionId)
    return { text: entry.value, title: args.name }
  },
} satisfies Definition

async function run(
  command: string,
  env: Record<string, string>,
  { name, timeout = defaultTimeout }: Args,
  context: Context,
): Promise<Output> {
  const { sessionId, callId, signal, report } = context
  const { cwd } = KeptFolder.get(sessionId)
  const record = createRecord({
    sessionId,
    callId,
    report: (text) => (signal.aborted ? undefined : report?.(text)),
  })
  const ran = await runCommand({
    command,
    cwd,
    env,
    policy: await commandPolicy(),
    timeout: timeout * 1_000,
    signal,
    shells: ofInstance(),
    record,
  })
  const { exitCode, signal: ending, timedOut, duration } = ran
  if (timedOut) {
    const late = `[timed out after ${timeout} s and was ended]`
    throw new NotUsable((await record.cut(late)).text)
  }
  const note = ending ? `[ended by ${ending}]` : exitCode ? `[exit code ${exitCode}]` : ""
  const { text, ...styles } = await record.cut(note)
  return {
    text: text || "(no output)",
    ...styles,
    title: `${name}: ${command.split("\n")[0]!.slice(0, 80)}`,
    data: { exitCode, signal: ending, duration },
  }
}

async function request(
  { name, url, header, prefix = "" }: Args,
  value: string,
  context: Context,
): Promise<Output> {
  const [{ getPage }, { pageText }] = await Promise.all([
    import("#ability/web/get-page.ts"),
    import("#ability/web/page-text.ts"),
  ])
  if (!/^[\x20-\x7e]*$/.test(value))
    throw new NotUsable(
      `The secret ${name} cannot be in a header: it has line ends or characters beyond ASCII.`,
    )
  const { signal, granted = [], judge } = context
  const headers = { [header!.toLowerCase()]: prefix + value }
  const page = await getPage(url!, { signal, granted, headers, ...(judge ? { judge } : {}) })
  const { text } = await pageText(page, signal)
  return { text, title: page.url.href, data: { url: url!, status: page.status, bytes: page.bytes.length } }
}

/** Other variables decide what a command does (`PATH`, `LD_PRELOAD`, `NODE_OPTIONS`), and a file that becomes a secret may
 * be the model's. */
function isForSecrets(name: string): boolean {
  if (!/^[A-Za-z_]\w{0,127}$/.test(name)) return false
  return isCredentialName(name) || /(^|_)(DATABASE_URL|DSN|CONNECTION_STRING)$/.test(name)
}

/** Without TLS a value would be readable on its way. */
function isSafe(given: string): boolean {
  const url = URL.parse(given)
  if (!url || url.username || url.password) return false
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1")
  const isLoopback = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback)
}

// Loads the SDK of the protocol. Nothing else imports it, because it takes longer to load than the rest of the program.

export type SDK = Awaited<ReturnType<typeof loadSDK>>

export async function loadSDK() {
  const [client, { AjvJsonSchemaValidator }] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/client/validators/ajv"),
  ])
  return { ...client, AjvJsonSchemaValidator }
}

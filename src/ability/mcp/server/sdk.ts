// The one place that loads the protocol's SDK, which takes longer than everything else at a start together.

export type SDK = Awaited<ReturnType<typeof loadSDK>>

export async function loadSDK() {
  const [client, { AjvJsonSchemaValidator }] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/client/validators/ajv"),
  ])
  return { ...client, AjvJsonSchemaValidator }
}

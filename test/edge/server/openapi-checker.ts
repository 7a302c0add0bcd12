// Checks answers of the server against its OpenAPI document.
import assert from "node:assert/strict"
import { Ajv2020 } from "ajv/dist/2020.js"

type Operation = { operationId: string; responses: Record<string, { $ref?: string }> }
export type Document = {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}

export function createChecker(document: Document) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema({ ...document, $id: "document" })
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(
        ([method, operation]) => [operation.operationId, { method, path, operation }] as const,
      ),
    ),
  )
  const done = new Set<string>()
  return {
    operations: [...operations.keys()],
    /** Operations that have answered with success. */
    done,
    operation(id: string) {
      const found = operations.get(id)
      assert.ok(found, `the document has no operation ${id}`)
      return { ...found, method: found.method.toUpperCase() }
    },
    /** Checks that the document describes the status, and that the body matches its schema. */
    check(id: string, status: number, body: unknown): void {
      const { path, method, operation } = operations.get(id)!
      const response = operation.responses[status]
      assert.ok(
        response,
        `${id} answered ${status}, which the document does not have: ${JSON.stringify(body)}`,
      )
      const at = response.$ref ?? `#/paths/${asPointer(path)}/${method}/responses/${status}`
      this.fits(`${at}/content/application~1json/schema`, body, id)
      if (status < 300) done.add(id)
    },
    fits(pointer: string, value: unknown, what: string): void {
      const fits = ajv.getSchema(`document${pointer}`)
      assert.ok(fits, pointer)
      assert.ok(
        fits(value),
        `${what}: ${ajv.errorsText(fits.errors)} in ${JSON.stringify(value)?.slice(0, 2_000)}`,
      )
    },
  }
}

/** A path as a segment of a JSON pointer in a URI. */
function asPointer(path: string): string {
  return encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"))
}

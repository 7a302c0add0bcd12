import assert from "node:assert/strict"
import { test } from "node:test"
import { hashOf, signRequest } from "#kernel/objects/sign-request.ts"

test("signRequest() makes the signature of the example in the documentation of AWS", () => {
  const { authorization } = signRequest({
    method: "GET",
    url: new URL("https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J"),
    hash: hashOf(""),
    keys: { id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
    region: "us-east-1",
    now: new Date("2013-05-24T00:00:00Z"),
  })
  assert.equal(
    authorization,
    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  )
})

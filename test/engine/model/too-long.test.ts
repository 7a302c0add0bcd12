import assert from "node:assert/strict"
import { test } from "node:test"
import { APICallError } from "@ai-sdk/provider"
import { isTooLong } from "#engine/model/retry.ts"

function failure(statusCode: number | undefined, message: string, responseBody = ""): APICallError {
  return new APICallError({
    message,
    url: "http://127.0.0.1/",
    requestBodyValues: {},
    responseBody,
    ...(statusCode === undefined ? {} : { statusCode }),
  })
}

const tooLong: [status: number | undefined, message: string, body?: string][] = [
  [
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
  ],
  [400, "Bad Request", '{"error":{"code":"context_length_exceeded"}}'],
  [400, "Your input exceeds the context window of this model. Please adjust your input and try again."],
  [400, "prompt is too long: 212345 tokens > 200000 maximum"],
  [400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length"],
  [400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."],
  [400, "the request exceeds the available context size, try increasing it"],
  [400, "Please reduce the length of the messages or completion."],
  [400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."],
  [400, "Input is too long for requested model."],
  [413, "Request Entity Too Large", '{"type":"error","error":{"type":"request_too_large"}}'],
  [undefined, "Your input exceeds the context window of this model."],
  [500, "prompt token count of 150000 exceeds the limit of 128000"],
]
const others: typeof tooLong = [
  [429, "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000."],
  [
    413,
    "Request too large for model: tokens per minute limit 6000, please reduce the length of the messages",
  ],
  [401, "Incorrect API key provided"],
  [400, "Invalid schema for function 'read'"],
  [400, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"],
  [500, "the model is overloaded"],
  [undefined, "Cannot connect to API"],
]

for (const [status, message, body] of tooLong)
  test(`isTooLong() recognises: ${message.slice(0, 60)}`, () => {
    assert.equal(isTooLong(failure(status, message, body)), true)
  })

for (const [status, message, body] of others)
  test(`isTooLong() does not match: ${message.slice(0, 60)}`, () => {
    assert.equal(isTooLong(failure(status, message, body)), false)
  })

// Messages of version 0 beside what they are now.
import type * as Message from "#knowledge/message/message.ts"

export const at = "2026-01-02T03:04:05.000Z"
export const ms = Date.parse(at)

export const fixtures: Record<string, [old: Record<string, unknown>, type: Message.Type, data: unknown]> = {
  "a user's text": [
    { type: "Text", data: { role: "User", content: "hello" } },
    "text",
    { role: "user", parts: [{ type: "text", text: "hello" }] },
  ],
  "an answer in parts": [
    {
      type: "text",
      data: {
        role: "Assistant",
        parts: ["a", { type: "Text", text: "b" }, { type: "Reasoning", content: "c" }],
      },
    },
    "text",
    {
      role: "assistant",
      parts: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
        { type: "reasoning", text: "c" },
      ],
      finish: "stop",
    },
  ],
  "a system text without data": [
    { type: "Text", role: "System", content: "be brief" },
    "text",
    { role: "system", parts: [{ type: "text", text: "be brief" }] },
  ],
  "a text with nothing": [{ type: "Text", data: {} }, "text", { role: "user", parts: [] }],
  "an image with an address": [
    { type: "Image", data: { image_data: { Url: "https://a/b.png" }, recognition_mode: "Vision" } },
    "image",
    { source: { kind: "url", value: "https://a/b.png" }, mode: "vision", state: "pending" },
  ],
  "an image with bytes and its text": [
    {
      type: "image",
      data: {
        source: { Base64: { data: "AAAA", mime_type: "image/png" } },
        recognition_mode: "OCR",
        used_mode: "OCR",
        recognized_text: "hi",
        vision_analysis: null,
        metadata: { ocr_confidence: 0.9 },
      },
    },
    "image",
    {
      source: { kind: "base64", value: "AAAA", mimeType: "image/png" },
      mode: "ocr",
      usedMode: "ocr",
      state: "done",
      recognizedText: "hi",
      metadata: { ocr_confidence: 0.9 },
    },
  ],
  "an image in a file that failed": [
    {
      type: "Image",
      data: { file_path: "/a.png", mime_type: "image/png", recognition_mode: "Auto", error: "no such file" },
    },
    "image",
    {
      source: { kind: "file", value: "/a.png", mimeType: "image/png" },
      mode: "auto",
      state: "failed",
      error: "no such file",
    },
  ],
  "an image that a model saw": [
    {
      type: "Image",
      data: { source: { kind: "FilePath", value: "a.png" }, vision_analysis: "a cat", status: "Completed" },
    },
    "image",
    { source: { kind: "file", value: "a.png" }, mode: "auto", state: "done", visionAnalysis: "a cat" },
  ],
  "a file reference": [
    {
      type: "FileReference",
      data: { path: "src/a.ts", start_line: 3, end_line: 9, resolution_status: "Pending" },
    },
    "file_reference",
    { path: "src/a.ts", startLine: 3, endLine: 9, status: "pending" },
  ],
  "a file reference with content and a range": [
    {
      type: "file_reference",
      data: { file_path: "a", line_range: { start: 1, end: 2 }, resolved_content: "x\ny", encoding: "utf8" },
    },
    "file_reference",
    { path: "a", startLine: 1, endLine: 2, status: "resolved", content: "x\ny" },
  ],
  "a file reference that failed": [
    {
      type: "FileReference",
      data: { path: "a", start_line: null, resolution_status: "Failed", error: "gone" },
    },
    "file_reference",
    { path: "a", status: "failed", error: "gone" },
  ],
  "a tool request": [
    {
      type: "ToolRequest",
      data: {
        tool_calls: [
          { id: "1", name: "read", arguments: { start_line: 1 }, approval_status: "Pending" },
          { id: "2", tool_name: "ls", arguments: '{"path":"."}', approval_status: "Approved" },
          {
            id: "3",
            type: "function",
            function: { name: "rm", arguments: "{oops" },
            approval_status: "Denied",
          },
        ],
      },
    },
    "tool_request",
    {
      calls: [
        { id: "1", name: "read", arguments: { start_line: 1 }, approval: "pending" },
        { id: "2", name: "ls", arguments: { path: "." }, approval: "approved" },
        { id: "3", name: "rm", arguments: {}, invalid: "{oops", approval: "denied" },
      ],
    },
  ],
  "a tool request with one approval for all": [
    { type: "tool_request", data: { calls: [{ id: "1", name: "read" }], approval_status: "Approved" } },
    "tool_request",
    { calls: [{ id: "1", name: "read", arguments: {}, approval: "approved" }] },
  ],
  "a tool result": [
    {
      type: "ToolResult",
      data: {
        request_id: "1",
        tool_name: "read",
        status: "Success",
        content: { lines: 3 },
        metadata: { duration_ms: 12, timestamp: at, host: "h" },
      },
    },
    "tool_result",
    {
      requestId: "1",
      toolName: "read",
      status: "success",
      output: { lines: 3 },
      duration: 12,
      timestamp: ms,
      metadata: { host: "h" },
    },
  ],
  "a tool result with an error": [
    {
      type: "tool_result",
      data: {
        tool_request_id: "1",
        tool_name: "read",
        error: { message: "no", stack_trace: "at x", recoverable: false },
        duration_ms: 5,
        timestamp: ms / 1_000,
      },
    },
    "tool_result",
    {
      requestId: "1",
      toolName: "read",
      status: "error",
      output: null,
      error: { message: "no", stack: "at x", recoverable: false },
      duration: 5,
      timestamp: ms,
    },
  ],
  "a tool result with an error in words": [
    { type: "ToolResult", data: { request_id: "1", status: "Error", error: "no", stack_trace: "at y" } },
    "tool_result",
    {
      requestId: "1",
      toolName: "",
      status: "error",
      output: null,
      error: { message: "no", stack: "at y", recoverable: true },
      duration: 0,
      timestamp: 0,
    },
  ],
  "a change of mode": [
    { type: "SystemControl", data: { control_type: "ModeChange", parameters: { old_mode: "Plan" } } },
    "system_control",
    { control: "mode_change", parameters: { old_mode: "Plan" } },
  ],
  "a switch of branch, tagged": [
    { type: "system_control", data: { control: { BranchSwitch: { from: "main", to: "b" } } } },
    "system_control",
    { control: "branch_switch", parameters: { from: "main", to: "b" } },
  ],
  "an MCP resource": [
    {
      type: "MCPResource",
      data: {
        server_name: "db",
        resource_uri: "x://y",
        content: "c",
        mime_type: "text/plain",
        retrieved_at: at,
      },
    },
    "mcp_resource",
    { serverName: "db", resourceUri: "x://y", content: "c", mimeType: "text/plain", retrievedAt: ms },
  ],
  "an MCP resource with structured content": [
    { type: "mcp_resource", data: { server_name: "db", resource_uri: "x://y", content: { a: 1 } } },
    "mcp_resource",
    { serverName: "db", resourceUri: "x://y", content: '{"a":1}', retrievedAt: 0 },
  ],
}

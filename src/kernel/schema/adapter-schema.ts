// The schema of adapters: how other programs reach the agent, and the sandbox around it.
import { z } from "zod"
import { about } from "#util/about.ts"

export const Adapters = z.strictObject({
  acp: about(
    "Editors, over the Agent Client Protocol.",
    z
      .strictObject({
        transport: about(
          "How a client of `vitamin acp` connects: over `stdio`, or `http` for a WebSocket at `/acp`, with the token.",
          z.enum(["stdio", "http"]).default("stdio"),
        ),
        port: about(
          "Port for `http`; without it, any free one.",
          z.number().int().min(0).max(65_535).optional(),
        ),
      })
      .optional(),
  ),
  sandbox: about(
    "Sandbox around the agent ([docs/sandbox.md](sandbox.md)).",
    z
      .strictObject({
        enabled: about(
          "Run every prompt in a sandbox, as `--sandbox` does for one command.",
          z.boolean().default(false),
        ),
        security: about(
          "What the sandbox lets through. Without it, `--sandbox` allows writing the work tree, and `enabled` only `./output`.",
          z
            .strictObject({
              allowWrite: about(
                "Folders that may be written: `.` is the work tree. A command with `bash.sandbox` may always write the work tree.",
                z.array(z.string()).default([]),
              ),
              denyRead: about(
                "Paths that cannot be read. Vitamin's own folders are always among them.",
                z.array(z.string()).default(["~/.ssh", "~/.aws", ".env"]),
              ),
              allowedDomains: about(
                "Hosts that may be reached over HTTP without a question: `example.com`, `*.example.com`; with a port, such as `localhost:8080`, at private addresses too.",
                z.array(z.string()).default([]),
              ),
            })
            .optional(),
        ),
        limits: about(
          "Limits of the sandbox.",
          z
            .strictObject({
              memory: about(
                "Bytes of memory. Default: 512 MB.",
                z
                  .number()
                  .int()
                  .min(64 << 20)
                  .optional(),
              ),
              processes: about(
                "Processes and threads; also of each command with `bash.sandbox`. Default: 2,000.",
                z.number().int().min(20).optional(),
              ),
              timeout: about(
                "Milliseconds that one prompt may run, without the time that it waits for you. Default: 300,000. `--timeout` comes before it.",
                z.number().int().positive().optional(),
              ),
            })
            .optional(),
        ),
      })
      .optional(),
  ),
})

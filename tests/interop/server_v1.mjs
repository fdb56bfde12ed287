// A server of the first SDK: node server_v1.mjs stdio | http (prints its port)
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { FORM, SAMPLED, offer } from "./offering.mjs";

function made() {
  const server = new McpServer({ name: "counterpart", version: "1.0" }, { capabilities: { logging: {} }, instructions: "Ask for anything." });
  offer({
    registerTool: (name, options, handler) => {
      const { inputSchema, outputSchema, ...rest } = options;
      const shapes = { ...rest, ...(inputSchema && { inputSchema: inputSchema.shape }), ...(outputSchema && { outputSchema: outputSchema.shape }) };
      server.registerTool(name, shapes, handler);
    },
    registerResource: (...given) => server.registerResource(...given),
    registerPrompt: (name, options, handler) => server.registerPrompt(name, { argsSchema: options.argsSchema.shape }, handler),
    sendToolListChanged: () => server.sendToolListChanged(),
  }, {
    ask: async (extra) => server.server.elicitInput({ message: "Who?", requestedSchema: FORM }, { relatedRequestId: extra.requestId }),
    askOthers: async (extra) => ({
      sampled: await server.server.createMessage(SAMPLED, { relatedRequestId: extra.requestId }),
      rooted: await server.server.listRoots({}, { relatedRequestId: extra.requestId }),
    }),
    progress: async (extra, progress, total) => {
      const progressToken = extra._meta?.progressToken;
      if (progressToken !== undefined) await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress, total } });
    },
    log: async (extra, level, data) => extra.sendNotification({ method: "notifications/message", params: { level, data } }),
    signal: (extra) => extra.signal,
    completable,
  });
  return server;
}

async function body(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return pieces.length ? JSON.parse(Buffer.concat(pieces).toString()) : undefined;
}

if (process.argv[2] === "stdio") {
  await made().connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  const streams = new Map();
  const http = createServer(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (url.pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      streams.set(transport.sessionId, transport);
      await made().connect(transport);
    } else if (url.pathname === "/messages") {
      await streams.get(url.searchParams.get("sessionId")).handlePostMessage(request, response);
    } else {
      let transport = sessions.get(request.headers["mcp-session-id"]);
      if (!transport) {
        transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport) });
        await made().connect(transport);
      }
      await transport.handleRequest(request, response, request.method === "POST" ? await body(request) : undefined);
    }
  });
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
}

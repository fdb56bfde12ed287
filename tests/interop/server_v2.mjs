// A server of the second SDK: node server_v2.mjs stdio | http (prints its port)
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, completable, createMcpHandler, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { FORM, SAMPLED, offer } from "./offering.mjs";

let handler;

function made(context) {
  const server = new McpServer({ name: "counterpart", version: "1.0" }, { capabilities: { logging: {}, tools: { listChanged: true } }, instructions: "Ask for anything." });
  const modern = context.era !== "legacy";
  offer(handler === undefined ? server : new Proxy(server, {
    get: (target, member) => {
      if (member === "sendToolListChanged") return () => handler.notify.toolsChanged();
      const value = target[member];
      return typeof value === "function" ? value.bind(target) : value;
    },
  }), {
    ask: async (ctx) => {
      if (!modern) return ctx.mcpReq.elicitInput({ message: "Who?", requestedSchema: FORM });
      const said = ctx.mcpReq.inputResponses?.who;
      return said ?? { asking: inputRequired({ inputRequests: { who: inputRequired.elicit({ message: "Who?", requestedSchema: FORM }) } }) };
    },
    askOthers: async (ctx) => {
      if (!modern) return { sampled: await ctx.mcpReq.requestSampling(SAMPLED), rooted: await server.server.listRoots() };
      const said = ctx.mcpReq.inputResponses;
      if (said?.m && said?.r) return { sampled: said.m, rooted: said.r };
      return { asking: inputRequired({ inputRequests: { m: inputRequired.createMessage(SAMPLED), r: inputRequired.listRoots() } }) };
    },
    progress: async (ctx, progress, total) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total } });
    },
    log: async (ctx, level, data) => ctx.mcpReq.log(level, data),
    signal: (ctx) => ctx.mcpReq.signal,
    completable,
  });
  return server;
}

if (process.argv[2] === "stdio") {
  serveStdio(made);
} else {
  handler = createMcpHandler(made);
  const http = createServer(toNodeHandler(handler));
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
}

// What both servers offer: one thing for everything. The SDKs differ in how a handler asks and reports, which the caller gives.
import { z } from "zod";

export const FORM = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

export const SAMPLED = { messages: [{ role: "user", content: { type: "text", text: "Hello" } }], maxTokens: 5 };

let fate = "unknown"; // of the last slow call

export function offer(server, { ask, askOthers, progress, log, signal, completable }) {
  server.registerTool("add", { title: "Adder", inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ total: z.number() }) },
    async ({ a, b }) => ({ content: [{ type: "text", text: JSON.stringify({ total: a + b }) }], structuredContent: { total: a + b } }));
  server.registerTool("fail", {}, async () => { throw new Error("not today"); });
  server.registerTool("steps", {}, async (ctx) => {
    for (const step of [1, 2, 3]) await progress(ctx, step, 3);
    return { content: [{ type: "text", text: "stepped" }] };
  });
  server.registerTool("noisy", {}, async (ctx) => {
    await log(ctx, "error", "loud");
    return { content: [{ type: "text", text: "logged" }] };
  });
  server.registerTool("name", {}, async (ctx) => {
    const said = await ask(ctx);
    return said.asking ?? { content: [{ type: "text", text: said.action === "accept" ? said.content.name : said.action }] };
  });
  server.registerTool("others", {}, async (ctx) => {
    const said = await askOthers(ctx);
    return said.asking ?? { content: [{ type: "text", text: `${said.sampled.content.text} ${said.rooted.roots[0].uri}` }] };
  });
  server.registerTool("slow", {}, (ctx) => new Promise((done) => {
    fate = "running";
    signal(ctx).addEventListener("abort", () => { fate = "cancelled"; done({ content: [] }); });
  }));
  server.registerTool("fate", {}, async () => ({ content: [{ type: "text", text: fate }] }));
  server.registerTool("grow", {}, async () => {
    await server.sendToolListChanged();
    return { content: [{ type: "text", text: "grown" }] };
  });
  server.registerResource("a", "mem://a", { mimeType: "text/plain" }, async (uri) => ({ contents: [{ uri: uri.href, text: "A" }] }));
  server.registerPrompt("greet", { argsSchema: z.object({ who: completable(z.string(), (value) => ["ada", "alan"].filter((name) => name.startsWith(value))) }) },
    ({ who }) => ({ messages: [{ role: "user", content: { type: "text", text: `Hello ${who}` } }] }));
}

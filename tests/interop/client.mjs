// A client of either SDK: node client.mjs v1|v2 http|sse|stdio TARGET [PIN]; prints what it found as JSON.
const [sdk, way, target, pin] = process.argv.slice(2);
const v1 = sdk === "v1";
const place = v1 ? "@modelcontextprotocol/sdk" : "@modelcontextprotocol/client";
const { Client } = await import(v1 ? `${place}/client/index.js` : place);
const types = v1 ? await import(`${place}/types.js`) : undefined;

async function transport() {
  if (way === "stdio") {
    const { StdioClientTransport } = await import(v1 ? `${place}/client/stdio.js` : `${place}/stdio`);
    const [command, ...args] = JSON.parse(target);
    return new StdioClientTransport({ command, args, stderr: "ignore" });
  }
  if (way === "sse") {
    const { SSEClientTransport } = await import(v1 ? `${place}/client/sse.js` : place);
    return new SSEClientTransport(new URL(target));
  }
  const { StreamableHTTPClientTransport } = await import(v1 ? `${place}/client/streamableHttp.js` : place);
  return new StreamableHTTPClientTransport(new URL(target));
}

const logs = [];
let changed;
const heard = new Promise((done) => { changed = done; });
const options = { capabilities: { elicitation: {}, sampling: {}, roots: {} }, ...(pin && { versionNegotiation: { mode: { pin } } }) };
const client = new Client({ name: "counterpart", version: "1.0" }, options);
const on = (kind, method, schema, handle) => client[kind](v1 ? types[schema] : method, handle);
on("setRequestHandler", "elicitation/create", "ElicitRequestSchema", async () => ({ action: "accept", content: { name: "Ada" } }));
on("setRequestHandler", "sampling/createMessage", "CreateMessageRequestSchema", async () => ({ role: "assistant", model: "m", content: { type: "text", text: "sampled" } }));
on("setRequestHandler", "roots/list", "ListRootsRequestSchema", async () => ({ roots: [{ uri: "file:///work" }] }));
on("setNotificationHandler", "notifications/message", "LoggingMessageNotificationSchema", (told) => { logs.push(told.params.data); });
on("setNotificationHandler", "notifications/tools/list_changed", "ToolListChangedNotificationSchema", () => changed(true));

await client.connect(await transport());
const call = async (name, args = {}, more) => client.callTool({ name, arguments: args }, ...(v1 ? [undefined, more] : [more]));
const found = { server: client.getServerVersion()?.name, tools: (await client.listTools()).tools.map((tool) => tool.name).sort() };
found.sum = (await call("add", { a: 1, b: 2 })).content[0].text;
found.failed = (await call("fail")).isError === true;
const steps = [];
await call("steps", {}, { onprogress: (told) => steps.push(told.progress) });
found.steps = steps;
found.resource = (await client.readResource({ uri: "mem://a" })).contents[0].text;
found.prompt = (await client.getPrompt({ name: "greet", arguments: { who: "Ada" } })).messages[0].content.text;
found.template = (await client.readResource({ uri: "mem://n/7" })).contents[0].text;
found.completed = (await client.complete({ ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "al" } })).completion.values;
found.refused = [];
for (const wrong of [() => client.readResource({ uri: "mem://no" }), () => client.getPrompt({ name: "no such" })]) {
  found.refused.push(await wrong().then(() => false, () => true));
}
if (!pin) await client.setLoggingLevel("warning");
await client.callTool({ name: "noisy", arguments: {}, ...(pin && { _meta: { "io.modelcontextprotocol/logLevel": "warning" } }) });
for (let turn = 0; turn < 100 && !logs.length; turn++) await new Promise((done) => setTimeout(done, 10));
found.logs = logs;
found.others = (await call("others")).content[0].text;
const giving = new AbortController();
const slow = call("slow", {}, { signal: giving.signal }).then(() => "answered", () => "given up");
const fate = async () => (await call("fate")).content[0].text;
while (await fate() !== "running") await new Promise((done) => setTimeout(done, 5));
giving.abort();
await slow;
for (let turn = 0; turn < 100 && await fate() === "running"; turn++) await new Promise((done) => setTimeout(done, 10));
found.fate = await fate();
found.name = (await call("name")).content[0].text.includes("mcpAnswers") ? "in arguments" : (await call("name")).content[0].text;
const listening = pin ? await client.listen({ toolsListChanged: true }) : undefined;
if (!pin && way !== "stdio") await new Promise((done) => setTimeout(done, 300));
await call("grow");
found.changed = await Promise.race([heard, new Promise((done) => setTimeout(done, 3000, false))]);
if (listening) await listening.close();
await client.close();
console.log(JSON.stringify(found));
process.exit(0);

// An upstream for the gateway's tests, written in something else than Unavez is.
//
// `x-behave` holds a JSON list: what it does with the first arrival under a key, with the second
// and so on; the last one holds for all that follow. It executes once for each key, as a service
// that honours keys does, and counts both arrivals and executions.

import http from "node:http";
import zlib from "node:zlib";

const arrivals = [];
const executions = new Map();
let statusAnswer = { status: 404 };

const server = http.createServer(async (request, response) => {
  const body = await read(request);
  if (request.url === "/_arrivals") return json(response, arrivals);
  if (request.url === "/_executions") return json(response, [...executions.values()].reduce((a, b) => a + b, 0));
  if (request.url === "/_status") {
    statusAnswer = JSON.parse(body.toString());
    return json(response, "kept");
  }
  const key = request.headers["idempotency-key"] ?? `none-${arrivals.length}`;
  const before = arrivals.filter((arrival) => arrival.key === key && arrival.method !== "GET").length;
  const lines = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2)
    lines.push([request.rawHeaders[i].toLowerCase(), request.rawHeaders[i + 1]]);
  const { method, url } = request;
  arrivals.push({ key, method, target: url, headers: lines, body: body.toString("latin1") });
  if (method === "GET") return answer(request, response, statusAnswer);
  const list = JSON.parse(request.headers["x-behave"] ?? "[{}]");
  const behaviour = list[Math.min(before, list.length - 1)];
  if (behaviour.cut === "before") return request.socket.destroy();
  if (behaviour.delay) await new Promise((resolve) => setTimeout(resolve, behaviour.delay));
  if (!behaviour.refuses && !executions.has(key)) executions.set(key, 1);
  if (behaviour.cut === "after") return request.socket.destroy();
  answer(request, response, behaviour);
});

server.on("checkContinue", (request, response) => {
  response.writeContinue();
  server.emit("request", request, response);
});

async function answer(request, response, behaviour) {
  if (behaviour.early) {
    response.writeProcessing();
    response.writeEarlyHints({ link: "</early>; rel=preload" });
  }
  const headers = behaviour.headers ?? [
    ["Content-Type", "application/json"],
    ["Location", "/things/1"],
  ];
  for (let n = 0; n < (behaviour.lines ?? 0); n++) headers.push([`x-${n}`, "x".repeat(behaviour.line ?? 1)]);
  let body = Buffer.from(behaviour.body ?? '{"done":true}', "latin1");
  if (behaviour.huge) body = Buffer.alloc(behaviour.huge, "x");
  if (behaviour.coding === "gzip") body = zlib.gzipSync(body);
  if (behaviour.coding === "br") body = zlib.brotliCompressSync(body);
  if (behaviour.coding) headers.push(["Content-Encoding", behaviour.coding]);
  if (behaviour.chunks === undefined && behaviour.broken === undefined && hasBody(behaviour.status))
    headers.push(["Content-Length", String(body.length)]);
  response.writeHead(behaviour.status ?? 201, headers.flat());
  if (behaviour.broken !== undefined) {
    response.write(body.subarray(0, behaviour.broken), () => request.socket.destroy());
    return;
  }
  for (const chunk of behaviour.chunks ?? []) {
    response.write(Buffer.from(chunk, "latin1"));
    await new Promise((resolve) => setTimeout(resolve, behaviour.pause ?? 5));
  }
  if (behaviour.chunks) response.end();
  else response.end(hasBody(behaviour.status) ? body : undefined);
}

function hasBody(status) {
  return ![204, 205, 304].includes(status);
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function json(response, value) {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

server.listen(Number(process.argv[2]), "127.0.0.1");

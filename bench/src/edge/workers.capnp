# The edge twice, in one process: the second one has an isolate of its own and the first one's
# shards. Beside them the plain Workers that they are measured against.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge),
    (name = "neighbour", worker = .neighbour),
    (name = "plain", worker = .plain),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [
    (name = "edge", http = (), service = "edge"),
    (name = "neighbour", http = (), service = "neighbour"),
    (name = "plain", http = (), service = "plain"),
  ],
);

const edge :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "edge/index.js"),
    (name = "index_bg.wasm", wasm = embed "edge/index_bg.wasm"),
  ],
  compatibilityDate = "COMPATIBILITY_DATE",
  bindings = [
    (name = "IN_FLIGHT", durableObjectNamespace = "InFlight"),
    (name = "ORIGIN_URL", fromEnvironment = "ORIGIN_URL"),
    (name = "EDGE_KEYS", fromEnvironment = "EDGE_KEYS"),
  ],
  durableObjectNamespaces = [(className = "InFlight", uniqueKey = "unavez-in-flight", enableSql = true)],
  durableObjectStorage = (inMemory = void),
);

const neighbour :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "edge/index.js"),
    (name = "index_bg.wasm", wasm = embed "edge/index_bg.wasm"),
  ],
  compatibilityDate = "COMPATIBILITY_DATE",
  bindings = [
    (name = "IN_FLIGHT", durableObjectNamespace = (className = "InFlight", serviceName = "edge")),
    (name = "ORIGIN_URL", fromEnvironment = "ORIGIN_URL"),
    (name = "EDGE_KEYS", fromEnvironment = "EDGE_KEYS"),
  ],
);

const plain :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "plain/index.js"),
    (name = "index_bg.wasm", wasm = embed "plain/index_bg.wasm"),
  ],
  compatibilityDate = "COMPATIBILITY_DATE",
  bindings = [
    (name = "IN_FLIGHT", durableObjectNamespace = "InFlight"),
    (name = "ORIGIN_URL", fromEnvironment = "ORIGIN_URL"),
  ],
  durableObjectNamespaces = [(className = "InFlight", uniqueKey = "plain", enableSql = true)],
  durableObjectStorage = (inMemory = void),
);

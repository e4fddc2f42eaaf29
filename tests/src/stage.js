// Stands in front of the edge in tests, to break on demand what workerd can't be asked to break.
import Edge, { InFlight as Shard } from "./edge.js";

/// The objects that were made, by their ids.
const shards = new Set();
/// How often a broken shard was called.
let calls = 0;

export class InFlight extends Shard {
  constructor(state, env) {
    super(state, env);
    this.state = state;
    shards.add(state.id.toString());
  }

  reset() {
    this.state.abort("reset by a test");
  }
}

/// What the runtime throws when it marks an error so.
const marked = (...marks) => {
  const error = new Error("broken by a test");
  for (const mark of marks) error[mark] = true;
  throw error;
};

const FAULTS = {
  retryable: () => marked("retryable"),
  overloaded: () => marked("overloaded"),
  "retryable-and-overloaded": () => marked("retryable", "overloaded"),
  broken: () => marked(),
  silent: () => new Promise(() => {}),
};

/// Goes by the name of the runtime's class, which the edge looks at.
class DurableObjectNamespace {
  constructor(fault, times, real) {
    Object.assign(this, { fault, times, real });
  }

  getByName(name) {
    const stub = this.real.getByName(name);
    return { ask: (...words) => this.ask(stub, words) };
  }

  ask(stub, words) {
    calls += 1;
    return this.times-- > 0 ? FAULTS[this.fault]() : stub.ask(...words);
  }
}

/// The next random token is a trap, as of a panic.
const trap = () => {
  const { randomUUID } = crypto;
  crypto.randomUUID = () => {
    crypto.randomUUID = randomUUID;
    throw new WebAssembly.RuntimeError("trapped by a test");
  };
};

const stage = {
  calls: () => calls,
  trap,
  reset: async (env) => {
    const stubs = [...shards].map((id) => env.IN_FLIGHT.get(env.IN_FLIGHT.idFromString(id)));
    await Promise.allSettled(stubs.map((stub) => stub.reset()));
    return stubs.length;
  },
};

export default {
  async fetch(request, env, ctx) {
    const act = new URL(request.url).pathname.match(/^\/_stage\/(\w+)$/)?.[1];
    if (act) return Response.json((await stage[act](env)) ?? null);
    const [fault, times = Infinity] = request.headers.get("x-shard")?.split(" ") ?? [];
    const real = env.IN_FLIGHT;
    const lock = fault ? new DurableObjectNamespace(fault, Number(times), real) : real;
    return Edge.prototype.fetch.call({ env: { ...env, IN_FLIGHT: lock }, ctx }, request);
  },
};

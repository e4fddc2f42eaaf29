// Writes jwt.json: tokens of every algorithm, good and bad, and what becomes of each.
// Usage: node jwt.mjs > jwt.json. The private keys are made for one run and forgotten.
//
// Each case has a `token` and either the `principal` that it gives or the reason why it is
// `refused`. `claim`, `issuer` and `audience` are the verifier's; `now` is the file's unless the
// case has one of its own, and only such cases depend on the clock by less than years.
import { createHmac, generateKeyPairSync, sign } from "node:crypto";

const NOW = 1_800_000_000; // 2027
const LATER = 4_102_444_800; // 2100
const EARLIER = 1_000_000_000; // 2001
const secret = "a secret of these vectors, 32 bytes or more";

const pairs = {
  es: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ed: generateKeyPairSync("ed25519"),
  rs: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  "rs-next": generateKeyPairSync("rsa", { modulusLength: 3072 }),
  "es-gone": generateKeyPairSync("ec", { namedCurve: "P-256" }),
  "rs-gone": generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
const others = {
  "es-384": generateKeyPairSync("ec", { namedCurve: "P-384" }),
  x25519: generateKeyPairSync("x25519"),
  "rs-enc": generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
const jwk = ({ publicKey }, members) => ({ ...publicKey.export({ format: "jwk" }), ...members });
const jwks = {
  keys: [
    jwk(pairs.es, { kid: "es", use: "sig", alg: "ES256" }),
    jwk(pairs.ed, { kid: "ed", key_ops: ["verify"] }),
    jwk(pairs.rs, { kid: "rs", use: "sig" }),
    jwk(pairs["rs-next"], { kid: "rs-next", alg: "RS256" }),
    jwk(others["es-384"], { kid: "es-384" }),
    jwk(others.x25519, { kid: "x25519" }),
    jwk(others["rs-enc"], { kid: "rs-enc", use: "enc" }),
    { kty: "oct", kid: "oct", k: Buffer.from(secret).toString("base64url") },
    { kty: "PQ", kid: "of a type to come" },
  ],
};

const b64 = (text) => Buffer.from(text).toString("base64url");
const json = (value) => (typeof value === "object" && !Buffer.isBuffer(value) ? JSON.stringify(value) : value);
const signers = {
  HS256: (message, key = secret) => createHmac("sha256", key).update(message).digest(),
  ES256: (message, key) => sign("sha256", message, { key, dsaEncoding: "ieee-p1363" }),
  EdDSA: (message, key) => sign(null, message, key),
  RS256: (message, key) => sign("sha256", message, key),
};
const algorithms = { es: "ES256", ed: "EdDSA", rs: "RS256", "rs-next": "RS256", "es-gone": "ES256", "rs-gone": "RS256" };

/** Header and claims, as objects or as text, signed by the key of this name or by the secret. */
function token(header, claims, by) {
  const message = `${b64(json(header))}.${b64(json(claims))}`;
  const bytes = by ? signers[algorithms[by]](Buffer.from(message), pairs[by].privateKey) : signers.HS256(message);
  return `${message}.${bytes.toString("base64url")}`;
}

const hs = { alg: "HS256", typ: "JWT" };
const ada = { sub: "ada", exp: LATER };
const cases = [];
const add = (name, token, rest) => cases.push({ name, token, ...rest });
const good = (name, token, subject = "ada", rest = {}) =>
  add(name, token, { ...rest, principal: { issuer: rest.iss ?? null, claim: rest.claim ?? "sub", subject } });
const bad = (name, reason, token, rest = {}) => add(name, token, { ...rest, refused: reason });
const flip = (text, at) => {
  const [header, claims, signature] = text.split(".");
  const bytes = Buffer.from(signature, "base64url");
  bytes[at < 0 ? bytes.length + at : at] ^= 1;
  return `${header}.${claims}.${bytes.toString("base64url")}`;
};
const signature = (text, bytes) => `${text.split(".").slice(0, 2).join(".")}.${Buffer.from(bytes).toString("base64url")}`;

// Every algorithm, signed rightly and wrongly.
good("HS256", token(hs, ada));
for (const by of ["es", "ed", "rs", "rs-next"]) {
  const right = token({ alg: algorithms[by], kid: by }, ada, by);
  good(`${algorithms[by]} by ${by}`, right);
  bad(`${by}: a bit of the signature is wrong`, "signature", flip(right, 7));
  bad(`${by}: the last bit of the signature is wrong`, "signature", flip(right, -1));
  bad(`${by}: no signature`, "signature", signature(right, []));
  bad(`${by}: a signature of zeros`, "signature", signature(right, Buffer.alloc(by === "rs" ? 256 : by === "rs-next" ? 384 : 64)));
  bad(`${by}: a signature with a byte more`, "signature", signature(right, Buffer.concat([Buffer.from(right.split(".")[2], "base64url"), Buffer.from([0])])));
  const [header, , bytes] = right.split(".");
  bad(`${by}: other claims`, "signature", `${header}.${b64(json({ ...ada, sub: "eve" }))}.${bytes}`);
}
bad("HS256: other claims", "signature", token(hs, ada).replace(b64(json(ada)), b64(json({ ...ada, sub: "eve" }))));
bad("HS256: half a signature", "signature", signature(token(hs, ada), Buffer.from(token(hs, ada).split(".")[2], "base64url").subarray(0, 16)));
bad("HS256: no signature", "signature", signature(token(hs, ada), []));
bad("HS256: another secret", "signature", signature(token(hs, ada), signers.HS256("x", "another secret")));
bad("ES256: a DER signature", "signature", (() => {
  const right = token({ alg: "ES256", kid: "es" }, ada, "es");
  return signature(right, sign("sha256", Buffer.from(right.split(".").slice(0, 2).join(".")), pairs.es.privateKey));
})());

// Which key.
good("no kid, and one key of the algorithm: ES256", token({ alg: "ES256" }, ada, "es"));
good("no kid, and one key of the algorithm: EdDSA", token({ alg: "EdDSA" }, ada, "ed"));
good("any kid fits the secret", token({ ...hs, kid: "es" }, ada));
bad("no kid, and two keys of the algorithm", "unknown-key", token({ alg: "RS256" }, ada, "rs"));
bad("an unknown kid", "unknown-key", token({ alg: "ES256", kid: "es-gone" }, ada, "es-gone"));
bad("a key that is gone, under a kid that is there", "signature", token({ alg: "RS256", kid: "rs" }, ada, "rs-gone"));
bad("the kid of a key of another type", "unknown-key", token({ alg: "ES256", kid: "ed" }, ada, "es"));
bad("the kid of a curve that is not used", "unknown-key", token({ alg: "ES256", kid: "es-384" }, ada, "es"));
bad("the kid of a key for encryption", "unknown-key", token({ alg: "RS256", kid: "rs-enc" }, ada, "rs"));
bad("kid is no text", "header", token({ ...hs, kid: 1 }, ada));

// Which algorithm: none but the four, and no key ever in another role.
for (const alg of ["none", "None", "NONE", "", "hs256", "HS384", "HS512", "ES384", "ES256K", "PS256", "RS512", "Ed25519"]) {
  bad(`alg ${JSON.stringify(alg)}`, "algorithm", token({ alg, kid: "es" }, ada));
}
bad("alg none, nothing signed", "algorithm", signature(token({ alg: "none" }, ada), []));
bad("no alg", "algorithm", token({ typ: "JWT" }, ada));
bad("alg is no text", "header", token({ alg: ["HS256"] }, ada));
for (const by of ["es", "ed", "rs"]) {
  const message = `${b64(json({ alg: "HS256", kid: by }))}.${b64(json(ada))}`;
  const { publicKey } = pairs[by];
  const keys = {
    "its PEM": publicKey.export({ format: "pem", type: "spki" }),
    "its DER": publicKey.export({ format: "der", type: "spki" }),
    "its JWK": json(jwks.keys.find((key) => key.kid === by)),
    "its raw bytes": Buffer.from(publicKey.export({ format: "jwk" }).x ?? publicKey.export({ format: "jwk" }).n, "base64url"),
  };
  for (const [form, key] of Object.entries(keys)) {
    bad(`the public key ${by} as a secret: ${form}`, "signature", `${message}.${signers.HS256(message, key).toString("base64url")}`);
  }
  bad(`a token of ${by} that says HS256`, "signature", token({ alg: "HS256", kid: by }, ada, by));
}
bad("a key that the token brings along", "unknown-key", token({ alg: "ES256", kid: "mine", jwk: jwk(pairs["es-gone"]) }, ada, "es-gone"));
bad("a token of HS256 that says RS256", "signature", token({ alg: "RS256", kid: "rs" }, ada));

// The form.
const plain = token(hs, ada);
bad("nothing", "not-compact", "");
bad("one part", "not-compact", plain.split(".")[0]);
bad("two parts", "not-compact", plain.split(".").slice(0, 2).join("."));
bad("four parts", "not-compact", `${plain}.`);
bad("five parts", "not-compact", `${plain}.AA.AA`);
bad("a padded signature", "not-compact", `${plain}=`);
bad("a space", "not-compact", `${plain} `);
bad("a line break", "not-compact", `${plain}\n`);
bad("base64 of the other alphabet", "not-compact", signature(plain, [0xfb, 0xff]).replace(/[^.]*$/, "+/8"));
bad("bits behind the last byte", "not-compact", plain.replace(/[^.]*$/, "AB"));
bad("a padded header", "header", plain.replace(".", "=."));
bad("an empty header", "header", plain.slice(plain.indexOf(".")));
bad("a long token", "too-long", token(hs, { ...ada, pad: "x".repeat(16384) }));
good("a token of nearly 16 KiB", token(hs, { ...ada, pad: "x".repeat(12000) }));

// The header.
for (const [name, header] of [
  ["a list", ["HS256"]], ["a text", '"HS256"'], ["null", "null"], ["cut", '{"alg":"HS256"'],
  ["followed by more", '{"alg":"HS256"}{}'], ["two alg", '{"alg":"HS256","alg":"none"}'],
  ["two alg, one escaped", '{"alg":"none","\\u0061lg":"HS256"}'],
  ["a byte order mark", '\ufeff{"alg":"HS256"}'], ["bad UTF-8", Buffer.from('{"alg":"HS256","x":"\xff"}', "latin1")],
  ["typ is no text", { alg: "HS256", typ: 1 }],
]) bad(`header: ${name}`, "header", token(header, ada));
good("header: white space", token('{ "typ": "JWT",\r\n "alg": "HS256" }', ada));
good("header: more members", token({ ...hs, cty: "x", x5t: "y", nested: { a: [1] } }, ada));
for (const typ of ["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "application/jwt"]) {
  good(`typ ${typ}`, token({ alg: "HS256", typ }, ada));
}
for (const typ of ["dpop+jwt", "secevent+jwt", "JWE", "", "jwt "]) bad(`typ ${JSON.stringify(typ)}`, "type", token({ alg: "HS256", typ }, ada));
bad("crit", "critical", token({ ...hs, crit: ["exp"], exp: 1 }, ada));
bad("crit of nothing", "critical", token({ ...hs, crit: [] }, ada));
bad("b64 false", "critical", token({ ...hs, crit: ["b64"], b64: false }, ada));

// The claims, and time.
for (const [name, claims] of [
  ["a list", [ada]], ["a text", '"ada"'], ["cut", '{"sub":"ada"'], ["nothing", ""],
  ["two sub", `{"sub":"ada","exp":${LATER},"sub":"eve"}`],
  ["two sub, one escaped", `{"sub":"ada","exp":${LATER},"s\\u0075b":"eve"}`],
  ["two of one name inside", `{"sub":"ada","exp":${LATER},"a":{"b":1,"b":2}}`],
  ["a lone surrogate", `{"sub":"\\ud800","exp":${LATER}}`],
  ["exp is a text", { ...ada, exp: String(LATER) }], ["exp is null", { ...ada, exp: null }],
  ["nbf is a text", { ...ada, nbf: "0" }], ["iss is a number", { ...ada, iss: 1 }],
  ["aud is a number", { ...ada, aud: 1 }], ["aud holds a number", { ...ada, aud: ["us", 1] }],
]) bad(`claims: ${name}`, "claims", token(hs, claims), { audience: "us" });
bad("no exp", "no-expiry", token(hs, { sub: "ada" }));
bad("expired", "expired", token(hs, { ...ada, exp: EARLIER }));
bad("exp 0", "expired", token(hs, { ...ada, exp: 0 }));
bad("exp below 0", "expired", token(hs, { ...ada, exp: -1 }));
good("exp with an exponent", token(hs, `{"sub":"ada","exp":4.1024448e9}`));
good("exp beyond every date", token(hs, `{"sub":"ada","exp":1e300}`));
good("the last second of the leeway", token(hs, { ...ada, exp: NOW }), "ada", { now: NOW + 29 });
bad("the leeway is over", "expired", token(hs, { ...ada, exp: NOW }), { now: NOW + 30 });
good("exp with a fraction", token(hs, { ...ada, exp: NOW + 0.5 }), "ada", { now: NOW + 30 });
bad("exp with a fraction is over", "expired", token(hs, { ...ada, exp: NOW + 0.5 }), { now: NOW + 31 });
good("nbf is over", token(hs, { ...ada, nbf: EARLIER }));
bad("nbf is to come", "not-yet", token(hs, { ...ada, nbf: LATER - 1 }));
good("nbf within the leeway", token(hs, { ...ada, nbf: NOW + 30 }), "ada", { now: NOW });
bad("nbf beyond the leeway", "not-yet", token(hs, { ...ada, nbf: NOW + 31 }), { now: NOW });
good("iat is not looked at", token(hs, { ...ada, iat: LATER }));

// Who it is from, for and about.
good("any issuer", token(hs, { ...ada, iss: "https://issuer" }), "ada", { iss: "https://issuer" });
good("the issuer", token(hs, { ...ada, iss: "https://issuer" }), "ada", { iss: "https://issuer", issuer: "https://issuer" });
bad("another issuer", "issuer", token(hs, { ...ada, iss: "https://issuer/" }), { issuer: "https://issuer" });
bad("no issuer", "issuer", token(hs, ada), { issuer: "https://issuer" });
good("the audience", token(hs, { ...ada, aud: "us" }), "ada", { audience: "us" });
good("the audience among others", token(hs, { ...ada, aud: ["them", "us"] }), "ada", { audience: "us" });
bad("another audience", "audience", token(hs, { ...ada, aud: "them" }), { audience: "us" });
bad("the audience in another case", "audience", token(hs, { ...ada, aud: "US" }), { audience: "us" });
bad("other audiences", "audience", token(hs, { ...ada, aud: ["them", "they"] }), { audience: "us" });
bad("no audience", "audience", token(hs, ada), { audience: "us" });
bad("an audience where none is expected", "audience", token(hs, { ...ada, aud: "them" }));
good("another claim", token(hs, { ...ada, tenant: "acme" }), "acme", { claim: "tenant" });
good("a subject beyond ASCII", token(hs, { ...ada, sub: "Zoë \u{1f600}" }), "Zoë \u{1f600}");
good("an escaped subject", token(hs, `{"sub":"\\u0061da","exp":${LATER}}`));
for (const [name, claims] of [["no subject", { exp: LATER }], ["an empty subject", { ...ada, sub: "" }],
  ["a number as subject", { ...ada, sub: 7 }], ["null as subject", { ...ada, sub: null }],
  ["a list as subject", { ...ada, sub: ["ada"] }]]) bad(name, "no-subject", token(hs, claims));
bad("not this claim", "no-subject", token(hs, ada), { claim: "tenant" });
bad("an expired token of nobody is expired first", "expired", token(hs, { exp: EARLIER }));

for (const it of cases) delete it.iss;
const lines = cases.map((it) => `    ${JSON.stringify(it)}`).join(",\n");
const about = "Tokens, and what becomes of each. Written by jwt.mjs, which explains the members.";
console.log(`{\n  "about": ${JSON.stringify(about)},\n  "now": ${NOW},\n  "secret": ${JSON.stringify(secret)},
  "jwks": ${JSON.stringify(jwks)},\n  "cases": [\n${lines}\n  ]\n}`);

// How JavaScript hashes a JSON document, whatever the order of its members.

const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const members = {};
  for (const name of Object.keys(value).sort()) members[name] = sorted(value[name]);
  return members;
};

const read = new TextDecoder();
const write = new TextEncoder();

const subtleDigest = (bytes) => crypto.subtle.digest("SHA-256", bytes);

export async function digestCanonical(body, times) {
  let digest = new ArrayBuffer(0);
  for (let n = 0; n < times; n++) {
    const text = JSON.stringify(sorted(JSON.parse(read.decode(body))));
    digest = await subtleDigest(write.encode(text));
  }
  return digest;
}

export async function digestBytes(body, times) {
  let digest = new ArrayBuffer(0);
  for (let n = 0; n < times; n++) digest = await subtleDigest(body);
  return digest;
}

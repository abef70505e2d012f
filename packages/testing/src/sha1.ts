import { toBytes } from "./bytes.ts";

/**
 * The SHA-1 of a byte string in lower-case hex. Synchronous, because EVAL answers before it returns and
 * WebCrypto's digest does not; FIPS 180-4, section 6.1.
 */
export function sha1Hex(bytes: string): string {
  const words = paddedWords(toBytes(bytes));
  const state = new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);
  const schedule = new Int32Array(80);
  for (let start = 0; start < words.length; start += 16) {
    schedule.set(words.subarray(start, start + 16));
    for (let t = 16; t < 80; t++) {
      const mixed = schedule[t - 3]! ^ schedule[t - 8]! ^ schedule[t - 14]! ^ schedule[t - 16]!;
      schedule[t] = rotateLeft(mixed, 1);
    }
    absorb(state, schedule);
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function absorb(state: Int32Array, schedule: Int32Array): void {
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let t = 0; t < 80; t++) {
    const next = (rotateLeft(a, 5) + choice(t, b, c, d) + e + constant(t) + schedule[t]!) | 0;
    e = d;
    d = c;
    c = rotateLeft(b, 30);
    b = a;
    a = next;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
}

function choice(t: number, b: number, c: number, d: number): number {
  if (t < 20) return (b & c) | (~b & d);
  if (t >= 40 && t < 60) return (b & c) | (b & d) | (c & d);
  return b ^ c ^ d;
}

function constant(t: number): number {
  if (t < 20) return 0x5a827999;
  if (t < 40) return 0x6ed9eba1;
  return t < 60 ? 0x8f1bbcdc : 0xca62c1d6;
}

function rotateLeft(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** The message as big-endian words: a one bit, zeros, and the length in bits fill the last block. */
function paddedWords(message: Uint8Array): Int32Array {
  const words = new Int32Array(((message.length + 8) >> 6) * 16 + 16);
  const put = (index: number, byte: number) => {
    words[index >> 2]! |= byte << (24 - (index & 3) * 8);
  };
  message.forEach((byte, index) => {
    put(index, byte);
  });
  put(message.length, 0x80);
  words[words.length - 2] = Math.floor(message.length / 0x20000000);
  words[words.length - 1] = message.length << 3;
  return words;
}

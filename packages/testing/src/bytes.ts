/*
 * Redis strings are bytes. Inside the memory node a string is a "byte string": one UTF-16 unit per byte,
 * so that lengths, comparisons and Lua's string functions count as Redis does. ASCII text is its own
 * byte string, which makes both directions free for almost everything.
 */

const encoder: TextEncoder = new TextEncoder();
const decoder: TextDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Turns text into a byte string (UTF-8). */
export function toByteString(text: string): string {
  if (isAscii(text)) {
    return text;
  }
  let bytes = "";
  for (const byte of encoder.encode(text)) {
    bytes += String.fromCharCode(byte);
  }
  return bytes;
}

/** Turns a byte string back into text; bytes that are not UTF-8 become U+FFFD, as in a driver. */
export function fromByteString(bytes: string): string {
  return isAscii(bytes) ? bytes : decoder.decode(toBytes(bytes));
}

/** The bytes of a byte string. */
export function toBytes(bytes: string): Uint8Array {
  return Uint8Array.from(bytes, (unit) => unit.charCodeAt(0));
}

// A loop, because it is twice as fast as a regular expression on strings as short as keys and tokens.
function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) return false;
  }
  return true;
}

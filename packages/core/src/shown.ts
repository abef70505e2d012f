/** A value as errors show it. Never throws: not every object can be made a string. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return Object(value) === value ? Object.prototype.toString.call(value) : String(value);
}

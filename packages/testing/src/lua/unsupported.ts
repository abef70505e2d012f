/** A script uses a part of Lua that the memory node does not have (a real Redis may run it). */
export class UnsupportedLuaError extends Error {
  override readonly name: string = "UnsupportedLuaError";

  constructor(construct: string, line: number) {
    super(`memoryNode does not support ${construct} in scripts (line ${line})`);
  }
}

/**
 * What `await using` needs, where the types of the runtime know of it. Not `AsyncDisposable`: with only DOM
 * or Workers types there is no such name.
 */
export type ScopeEnd = SymbolConstructor extends {
  readonly asyncDispose: infer Dispose extends symbol;
}
  ? { [Name in Dispose]: () => Promise<void> }
  : object;

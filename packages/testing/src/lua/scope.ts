/*
 * Names are resolved while compiling: a local is a slot in its function's frame. A local that an inner
 * function uses lives in a cell, so that both see one variable. Which locals those are is known only
 * after the whole chunk was read, hence the chunk is compiled a second time when there are any.
 */

/** What is known of a whole chunk; `captured` outlives the first pass. */
export interface ChunkNotes {
  /** Locals that inner functions use, by the order of their declaration. */
  readonly captured: Set<number>;
  declared: number;
}

/** A declared local. */
export interface Local {
  readonly kind: "local";
  readonly id: number;
  readonly slot: number;
  readonly inCell: boolean;
}

/** A local of an outer function. */
export interface Upvalue {
  readonly kind: "upvalue";
  readonly index: number;
}

/** The names of one function while it is compiled. */
export class FunctionScope {
  readonly notes: ChunkNotes;
  readonly outer: FunctionScope | undefined;
  /** Where each upvalue comes from when the function is created: the outer function's own names. */
  readonly origins: (Local | Upvalue)[] = [];
  /** How many slots a frame needs. */
  size = 0;
  readonly #upvalues = new Map<string, Map<Local | Upvalue, Upvalue>>();
  readonly #blocks: Map<string, Local>[] = [new Map()];

  constructor(notes: ChunkNotes, outer?: FunctionScope) {
    this.notes = notes;
    this.outer = outer;
  }

  /** Compiles something in a block of its own. */
  block<T>(compile: () => T): T {
    this.#blocks.push(new Map());
    try {
      return compile();
    } finally {
      this.#blocks.pop();
    }
  }

  declare(name: string): Local {
    const id = this.notes.declared++;
    const inCell = this.notes.captured.has(id);
    const local: Local = { kind: "local", id, slot: this.size++, inCell };
    this.#blocks[this.#blocks.length - 1]!.set(name, local);
    return local;
  }

  /** Finds what a name means here; undefined: a global. */
  resolve(name: string): Local | Upvalue | undefined {
    for (let depth = this.#blocks.length - 1; depth >= 0; depth--) {
      const local = this.#blocks[depth]!.get(name);
      if (local) return local;
    }
    const origin = this.outer?.resolve(name);
    return origin && this.#upvalue(name, origin);
  }

  #upvalue(name: string, origin: Local | Upvalue): Upvalue {
    if (origin.kind === "local") {
      this.notes.captured.add(origin.id);
    }
    const known = this.#upvalues.get(name) ?? new Map<Local | Upvalue, Upvalue>();
    this.#upvalues.set(name, known);
    const upvalue = known.get(origin) ?? { kind: "upvalue", index: this.origins.length };
    if (!known.has(origin)) {
      known.set(origin, upvalue);
      this.origins.push(origin);
    }
    return upvalue;
  }
}

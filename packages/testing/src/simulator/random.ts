/** Seeded chance: the same seed gives the same numbers on every machine. */
export class Chance {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, label = "") {
    this.#a = mixed(seed | 0);
    this.#b = mixed(Math.floor(seed / 2 ** 32) ^ 0x5bd1e995);
    this.#c = mixed(label.length);
    for (let index = 0; index < label.length; index++) {
      this.#c = mixed(this.#c ^ label.charCodeAt(index));
    }
    for (let round = 0; round < 8; round++) this.#next();
  }

  /** A number in [0, 1). */
  uniform(): number {
    return this.#next() / 2 ** 32;
  }

  /** An integer in [0, count). */
  below(count: number): number {
    return Math.floor(this.uniform() * count);
  }

  /** A number in [low, high). */
  between(low: number, high: number): number {
    return low + this.uniform() * (high - low);
  }

  /** A whole number in [low, high]. */
  whole(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True with the given probability. */
  odds(probability: number): boolean {
    return this.uniform() < probability;
  }

  /** One of the values. */
  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value;
  }

  /** One of the names, each as likely as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let left = this.uniform() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return (entries[0] as [Name, number])[0];
  }

  // Three words are stirred into each other and a counter keeps the cycle long (after the small fast
  // counting generators).
  #next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

/** Spreads a word's bits over the whole word. */
function mixed(word: number): number {
  let bits = (word + 0x9e3779b9) | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return bits ^ (bits >>> 15);
}

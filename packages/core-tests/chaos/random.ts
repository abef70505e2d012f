/** Numbers from 0 to below 1 that depend on the seed alone (mulberry32). */
export type Chance = () => number;

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const between = (chance: Chance, min: number, max: number): number =>
  min + Math.floor(chance() * (max - min + 1));

export const pick = <Value>(chance: Chance, values: readonly Value[]): Value =>
  values[Math.floor(chance() * values.length)] as Value;

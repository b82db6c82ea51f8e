/** Random choices that a seed repeats. */
export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** True in one of `n` cases. */
  oneIn(n: number): boolean;
  pick<T>(list: readonly T[]): T;
  bytes(length: number): Buffer;
}

/**
 * Mulberry32: 32 bits of state, good enough to spread test input, and the same on every machine.
 * @param seed any whole number
 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number) => Math.floor((next() / 4_294_967_296) * limit);
  return {
    below,
    oneIn: (n) => below(n) === 0,
    pick(list) {
      const item = list[below(list.length)];
      if (item === undefined) throw new Error('an empty list has nothing to pick');
      return item;
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}

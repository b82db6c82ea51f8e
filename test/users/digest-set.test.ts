import fc from 'fast-check';
import { createDigestSet } from '../../server/shared/index.ts';

describe('a set of digests', () => {
  it('A set of digests has exactly the texts that were added, however many were expected', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('a', 'b', 'ab', '["a","b"]', ''));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), text)), (steps) => {
        const [set, model] = [createDigestSet(0), new Set<string>()];
        for (const [adds, value] of steps) {
          expect(set.has(value)).toBe(model.has(value));
          if (!adds) continue;
          set.add(value);
          model.add(value);
        }
      }),
    );
    const [set, many] = [createDigestSet(10), 20_000];
    for (let n = 0; n < many; n += 1) {
      set.add(`text ${n}`);
      set.add(`text ${n}`);
    }
    const found = Array.from({ length: 2 * many }, (_, n) => set.has(`text ${n}`));
    expect(found).toEqual(Array.from({ length: 2 * many }, (_, n) => n < many));
  });

  it('A set takes 12 bytes for each expected text, and 15 when there are twice as many', () => {
    const expected = 200_000;
    const before = process.memoryUsage().arrayBuffers;
    const set = createDigestSet(expected);
    const bytesPerText = (texts: number) => {
      for (let n = 0; n < texts; n += 1) set.add(`text ${n}`);
      return (process.memoryUsage().arrayBuffers - before) / texts;
    };
    expect(bytesPerText(expected)).toBeLessThan(12);
    expect(bytesPerText(2 * expected)).toBeLessThan(15);
  });
});

import { coalesceByKey } from '../../server/billing/stripe/shared-turns.ts';

describe('shared turns', () => {
  /** Runs that end when the test says so. */
  function turns() {
    const ends: { key: string; end: (error?: Error) => void }[] = [];
    const ask = coalesceByKey(
      (key) =>
        new Promise<number>((resolve, reject) => {
          const number = ends.length + 1;
          ends.push({ key, end: (error) => (error ? reject(error) : resolve(number)) });
        }),
    );
    const end = async (at: number, error?: Error) => {
      ends[at]?.end(error);
      await new Promise(setImmediate);
    };
    return { ask, end, begun: () => ends.map(({ key }) => key) };
  }

  it('Calls during a run share the next run, which begins when the current one has ended', async () => {
    const { ask, end, begun } = turns();
    const first = ask('a');
    const others = [ask('a'), ask('a'), ask('a')];
    expect(begun()).toEqual(['a']);
    await end(0);
    expect(begun()).toEqual(['a', 'a']);
    const late = ask('a');
    await end(1);
    expect(await Promise.all([first, ...others])).toEqual([1, 2, 2, 2]);
    await end(2);
    expect(await late).toBe(3);
  });

  it('Runs of other keys do not wait, and a failed run fails only for the calls that share it', async () => {
    const { ask, end, begun } = turns();
    const failing = ask('a');
    const after = ask('a');
    void ask('b');
    expect(begun()).toEqual(['a', 'b']);
    const failed = expect(failing).rejects.toThrow('away');
    await end(0, new Error('away'));
    await failed;
    await end(2);
    expect(await after).toBe(3);
  });
});

import { createProgress } from '../../server/cli/import/progress.ts';

describe('the progress of an import', () => {
  const shown = (isTTY: boolean, quiet = false) => {
    const written: string[] = [];
    let at = 0;
    const sink = { isTTY, write: (text: string) => written.push(text) };
    const progress = createProgress(sink, 'Importing members', { quiet, nowMs: () => at });
    for (let step = 0; step <= 100; step += 1) {
      at = step * 60;
      progress.show(step / 100, step * 1_000);
    }
    progress.end();
    return written;
  };

  it('The progress on a terminal is a bar that is overwritten and removed at the end', () => {
    const written = shown(true);
    expect(written[0]).toBe(`\r\u001b[KImporting members [${'.'.repeat(24)}]   0 %  0 rows`);
    expect(written.join('')).toContain('[############............]  50 %  50,000 rows');
    expect(written.at(-1)).toBe('\r\u001b[K');
    expect(written.length).toBeLessThan(60);
  });

  it('The progress elsewhere is a line every few seconds, and nothing with --json', () => {
    expect(shown(false)).toEqual(['Importing members: 84 %, 84,000 rows\n']);
    expect(shown(true, true)).toEqual([]);
  });
});

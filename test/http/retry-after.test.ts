import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toRetrySeconds } from '../../server/http/index.ts';

const server = join(import.meta.dirname, '..', '..', 'server');
/** It keeps the header of a refused form until the page of that form is shown. */
const keepers = [join('http', 'errors.ts'), join('http', 'post-redirect-get.ts')];

describe('Retry-After (RFC 9110, section 10.2.3)', () => {
  it.each([
    [-1, 1],
    [0, 1],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [59_999, 60],
  ])('A wait of %i ms is written as %i whole seconds, and never as less than one', (ms, seconds) => {
    expect(toRetrySeconds(ms)).toBe(seconds);
  });

  it('No module of the server sets the header without the helper', () => {
    const sources = readdirSync(server, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => ({ name, text: readFileSync(join(server, name), 'utf8') }));
    const setting = sources.filter(({ text }) => /\b(?:setHeader|set|header)\(\s*'Retry-After'/i.test(text));
    const byHand = setting.filter(({ text }) => !/'Retry-After', String\(toRetrySeconds\(/.test(text));
    expect(byHand.map(({ name }) => name).filter((name) => !keepers.includes(name))).toEqual([]);
    expect(setting.map(({ name }) => name)).toContain(keepers[0]);
    // Refusals that HTTP writes later name their seconds by the same helper.
    const rounded = sources.filter(({ text }) => /retryAfterSeconds[:=]\s*(?:Math\.|\w+\s*\/)/.test(text));
    expect(rounded.map(({ name }) => name)).toEqual([]);
  });
});

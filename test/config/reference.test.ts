import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variableNames } from '../../config/schema.ts';
import { configurationReference } from '../../scripts/lib/configuration-docs.mjs';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8');

describe('docs/configuration.md', () => {
  const reference = configurationReference(read('config/example.env'), variableNames);

  it('is what `npm run docs` writes', () => {
    expect(read('docs/configuration.md')).toBe(reference);
  });

  it('has a heading for every variable of the schema', () => {
    for (const name of variableNames) expect(reference).toContain(`\n### ${name}\n`);
  });

  it('cannot leave a variable out', () => {
    expect(() => configurationReference('# Port.\n#PORT=1', ['PORT', 'NEW_ONE'])).toThrow('NEW_ONE');
  });
});

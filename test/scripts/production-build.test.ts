import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const run = join(import.meta.dirname, '../../dist/run');

/** A file and everything that it imports at once, as Node loads it with it. */
function loadedWith(entry: string): Set<string> {
  const loaded = new Set<string>();
  const waiting = [join(run, entry)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    const text = readFileSync(file, 'utf8');
    // Static imports and re-exports alone: what `import()` names is loaded when its code runs.
    for (const [, specifier = ''] of text.matchAll(/^(?:import|export)\b[^'"]*?['"](\.[^'"]+)['"];?$/gm)) {
      waiting.push(join(dirname(file), specifier));
    }
  }
  return loaded;
}

/** What defines parts of the stand-ins: names are kept in the build. */
const parts = ['StandInError', 'createStripeStandIn', 'createProviderStandIns', 'buildSamlResponse'];
const definitionOf = (name: string) => new RegExp(`\\b(?:class|function|var|let|const) ${name}\\b(?! *[,}])`);

describe('what a process of production loads', () => {
  it.each(['start.js', 'cli.js'])(
    'The program %s loads no code of the stand-ins for Stripe and for providers',
    (entry) => {
      const loaded = [...loadedWith(entry)];
      expect(loaded.length).toBeGreaterThan(1);
      const found = loaded.flatMap((file) => {
        const text = readFileSync(file, 'utf8');
        return parts.filter((name) => definitionOf(name).test(text)).map((name) => `${relative(run, file)}: ${name}`);
      });
      // Nor the word that stands in it 31 times.
      expect(loaded.filter((file) => readFileSync(file, 'utf8').includes('StandInError'))).toEqual([]);
      expect(found).toEqual([]);
    },
  );

  it('The stand-ins are in separate files, which a sandbox loads', () => {
    const all = readdirSync(run, { recursive: true, encoding: 'utf8' }).filter((name) => /\.m?js$/.test(name));
    const apart = all.filter((name) => !loadedWith('start.js').has(join(run, name)));
    const texts = apart.map((name) => readFileSync(join(run, name), 'utf8'));
    for (const name of parts)
      expect({ name, there: texts.some((text) => definitionOf(name).test(text)) }).toEqual({ name, there: true });
  });
});

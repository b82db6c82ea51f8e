import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { printedCredentials } from '../../config/printed.ts';
import { schema, variableNames } from '../../config/schema.ts';

const text = readFileSync(join(import.meta.dirname, '../../config/example.env'), 'utf8');
/** What a variable is shown with, commented out or not. */
const shown = [...text.matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = '', value = '']) => ({ name, value }));
const given = Object.fromEntries(shown.map(({ name, value }) => [name, value]));

describe('config/example.env', () => {
  it('The example has every variable of the schema once and no other', () => {
    expect(shown.map(({ name }) => name).sort()).toEqual([...variableNames].sort());
  });

  it('The example states the default of each variable', () => {
    // The comment right above, or above the neighbours that share it.
    const paragraphs = text.split(/\n\n+/).filter((paragraph) => /^#?[A-Z][A-Z0-9_]*=/m.test(paragraph));
    expect(paragraphs.length).toBeGreaterThan(20);
    for (const paragraph of paragraphs) expect(paragraph).toMatch(/Default: /);
  });

  it('The example shows the defaults of the schema', () => {
    const defaults = Object.entries(schema.parse({})).filter(([, value]) => value !== undefined);
    expect(defaults.length).toBeGreaterThan(15);
    const read = schema.parse(given);
    for (const [name, value] of defaults) {
      // Shown with what the file is for.
      if (name !== 'NODE_ENV') expect({ name, value: Reflect.get(read, name) }).toEqual({ name, value });
    }
  });

  it('Production accepts the example without the sandbox and with real credentials', () => {
    const { SANDBOX: _, ...production } = given;
    const own = Object.keys(printedCredentials).map((name) => [name, `${given[name]}1`]);
    const account = { TWILIO_ACCOUNT_SID: `AC${'1'.repeat(32)}` };
    const stores = {
      DATABASE_URL: 'postgres://foyer:own@db.example.org/foyer',
      SMTP_URL: 'smtps://a:b@smtp.example.org',
    };
    const key = { SECRET_KEY: 'k'.repeat(48) };
    expect(loadConfig({ ...production, ...Object.fromEntries(own), ...account, ...stores, ...key })).toMatchObject({
      production: true,
      SANDBOX: false,
    });
  });

  it('The values of the example read alike in a shell and in systemd: no spaces, quotes or expansions', () => {
    for (const { name, value } of shown)
      expect({ name, value }).toEqual({ name, value: value.replace(/[\s'"$`\\;&<>]/g, '') });
  });
});

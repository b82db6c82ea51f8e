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
  it('has every variable of the schema once, and none else', () => {
    expect(shown.map(({ name }) => name).sort()).toEqual([...variableNames].sort());
  });

  it('says of each variable what its default is', () => {
    // The comment right above, or above the neighbours that share it.
    const paragraphs = text.split(/\n\n+/).filter((paragraph) => /^#?[A-Z][A-Z0-9_]*=/m.test(paragraph));
    expect(paragraphs.length).toBeGreaterThan(20);
    for (const paragraph of paragraphs) expect(paragraph).toMatch(/Default: /);
  });

  it('shows the defaults that the schema has', () => {
    const defaults = Object.entries(schema.parse({})).filter(([, value]) => value !== undefined);
    expect(defaults.length).toBeGreaterThan(15);
    const read = schema.parse(given);
    for (const [name, value] of defaults) {
      // Shown with what the file is for.
      if (name !== 'NODE_ENV') expect({ name, value: Reflect.get(read, name) }).toEqual({ name, value });
    }
  });

  it('is a configuration that production takes, once the sandbox is left out and the credentials are real ones', () => {
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

  it('has values that a shell and systemd read alike: no spaces, no quotes, nothing to expand', () => {
    for (const { name, value } of shown)
      expect({ name, value }).toEqual({ name, value: value.replace(/[\s'"$`\\;&<>]/g, '') });
  });
});

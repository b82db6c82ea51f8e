import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variableNames } from '../../config/schema.ts';
import { configurationReference } from '../../scripts/docs.mjs';
import { withProblemRows } from '../../scripts/lib/problem-docs.mjs';
import { withProfileRows } from '../../scripts/lib/profile-docs.mjs';
import { withAttributeRows, withStandardRows, withStandardVariables } from '../../scripts/lib/provider-docs.mjs';
import { rateLimitReference } from '../../scripts/lib/rate-limit-docs.mjs';
import { problemDocs } from '../../server/http/problem-docs.ts';
import { apiProblems } from '../../server/http/problems.ts';
import type { LimitDefinition } from '../../server/http/rate-limits/definition.ts';
import { apiCallsPerMinute, rateLimits } from '../../server/http/rate-limits/limits.ts';
import { specialLimits } from '../../server/http/rate-limits/special-limits.ts';
import { profileFields } from '../../server/users/index.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8');

describe('docs/configuration.md', () => {
  const limits = rateLimitReference(rateLimits, specialLimits, apiCallsPerMinute);
  const reference = configurationReference(read('config/example.env'), variableNames, limits);

  it('The page docs/configuration.md is what `npm run docs` writes', () => {
    expect(read('docs/configuration.md')).toBe(reference);
  });

  it('The variables of config/example.env and the table of docs/providers.md are those of the standard providers', () => {
    const [example, page] = [read('config/example.env'), read('docs/providers.md')];
    expect([withStandardVariables(example), withStandardRows(page)]).toEqual([example, page]);
  });

  it('The table of attributes in SAML in docs/providers.md has every name that is known', () => {
    const page = read('docs/providers.md');
    expect(withAttributeRows(page)).toBe(page);
    expect(page).toContain('| `urn:oid:1.2.840.113549.1.9.1` | e-mail address | Keycloak |');
  });

  it('The table of attributes in docs/json-api.md has the fields of the profile', () => {
    const page = read('docs/json-api.md');
    expect(withProfileRows(page, Object.values(profileFields))).toBe(page);
  });

  it('The table of problem types in docs/json-api.md has the causes and remedies of the page /docs/api', () => {
    const page = read('docs/json-api.md');
    expect(withProblemRows(page, apiProblems, problemDocs)).toBe(page);
  });

  it('The page has a heading for every variable of the schema', () => {
    for (const name of variableNames) expect(reference).toContain(`\n### ${name}\n`);
  });

  it('The page has the table of rate limits with a row for each counter and each special limit', () => {
    const rows = limits.filter((line) => /^\| (?!Limit|---)/.test(line));
    const counters = Object.values<LimitDefinition>(rateLimits).flatMap((limit) => limit.counters);
    expect(rows).toHaveLength(counters.length + Object.keys(specialLimits).length);
    for (const { key } of counters) expect(rows.filter((line) => line.includes(`| \`${key}\` |`))).not.toEqual([]);
    expect(reference).toContain(rows.join('\n'));
  });

  it('The page cannot be written when a variable is missing', () => {
    expect(() => configurationReference('# Port.\n#PORT=1', ['PORT', 'NEW_ONE'], [])).toThrow('NEW_ONE');
  });
});

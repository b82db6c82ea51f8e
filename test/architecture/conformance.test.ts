import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const text = readFileSync(join(root, 'docs/conformance.md'), 'utf8');

interface Row {
  standard: string;
  section: string;
  tests: { title: string; file: string }[];
}

/** The tables: under each standard's heading, rows of section, demand and the tests that show it. */
function rows(): Row[] {
  let standard = '';
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('## ')) standard = line.slice(3);
    const cells = line.split('|').map((cell) => cell.trim());
    const [, section = '', , shown = ''] = cells;
    if (cells.length !== 5 || section === 'Section' || section === 'Module' || /^-+$/.test(section)) return [];
    const links = [...shown.matchAll(/\[(.+?)\]\(\.\.\/(test\/[^)]+\.test\.tsx?)\)/g)];
    return { standard, section, tests: links.map(([, title = '', file = '']) => ({ title, file })) };
  });
}

/** Whether a test file has a test, or a group of tests, of exactly this title. */
function hasTitle(file: string, title: string): boolean {
  const source = readFileSync(join(root, file), 'utf8');
  return ["'", '"', '`'].some((quote) => {
    const written = `(${quote}${title}${quote},`;
    // A long title stands on a line of its own.
    return source.replaceAll(/\(\s+/g, '(').includes(written);
  });
}

/** The modules of the OpenID Foundation's plans, by the suite's names. */
const logoutPlans: Record<string, string[]> = {
  'RP-Initiated Logout OP': [
    'oidcc-rp-initiated-logout-discovery-endpoint-verification',
    'oidcc-rp-initiated-logout',
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
    'oidcc-rp-initiated-logout-modified-id-token-hint',
    'oidcc-rp-initiated-logout-no-id-token-hint',
    'oidcc-rp-initiated-logout-no-params',
    'oidcc-rp-initiated-logout-no-post-logout-redirect-uri',
    'oidcc-rp-initiated-logout-no-state',
    'oidcc-rp-initiated-logout-only-state',
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
    'oidcc-rp-initiated-logout-bad-id-token-hint',
  ],
  'Back-Channel Logout OP': [
    'oidcc-backchannel-logout-discovery-endpoint-verification',
    'oidcc-backchannel-rp-initiated-logout',
  ],
};

/** docs/conformance.md says of each demand which test shows it: that must stay true. */
describe('the table of conformance', () => {
  const table = rows();

  it('The conformance table has a part for each standard', () => {
    const standards = [...new Set(table.map(({ standard }) => standard))];
    expect(standards).toEqual([
      'OpenID Connect Core 1.0',
      'OpenID Connect Discovery 1.0',
      'OpenID Connect RP-Initiated Logout 1.0',
      'OpenID Connect Back-Channel Logout 1.0',
      'Logout by a provider',
      'PKCE (RFC 7636)',
      'Pushed authorization requests (RFC 9126)',
      'Signed requests (RFC 9101; Core, 6.1)',
      'Config OP',
      'RP-Initiated Logout OP',
      'Back-Channel Logout OP',
      'FAPI 2.0 Security Profile',
      'DPoP (RFC 9449)',
      'JWT access tokens (RFC 9068)',
      'Device authorization (RFC 8628)',
      'Issuer identification (RFC 9207)',
      'Form post response mode 1.0',
    ]);
  });

  it('The conformance table names a test for every requirement', () => {
    expect(table.filter(({ tests }) => tests.length === 0)).toEqual([]);
    expect(table.length).toBeGreaterThan(100);
  });

  it('The conformance table names only tests that exist, each by its title', () => {
    const tests = table.flatMap((row) => row.tests);
    const missing = tests.filter(({ file, title }) => !existsSync(join(root, file)) || !hasTitle(file, title));
    expect(missing).toEqual([]);
  });

  it.each(Object.entries(logoutPlans))(
    'The table of %s has exactly the modules of its plan, each with a test by its name',
    (plan, modules) => {
      const inTable = table.filter(({ standard }) => standard === plan);
      expect(inTable.map(({ section }) => section.replaceAll('`', '')).toSorted()).toEqual(modules.toSorted());
      const source = readFileSync(join(root, 'test/oidc/logout-op-modules.test.ts'), 'utf8');
      // A title begins with the name of its module, or is "%s: …" with the names as rows.
      const titles = [...source.matchAll(/'(oidcc-[\w-]+)(?::|')/g)].map(([, name]) => name);
      expect(modules.filter((name) => !titles.includes(name))).toEqual([]);
    },
  );

  it('The title check does not accept a test that is missing or has another title', () => {
    expect(
      hasTitle('test/architecture/conformance.test.ts', 'The conformance table names a test for every requirement'),
    ).toBe(true);
    expect(hasTitle('test/architecture/conformance.test.ts', 'The conformance table names a test for every')).toBe(
      false,
    );
  });
});

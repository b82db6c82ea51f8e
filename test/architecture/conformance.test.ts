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
    if (cells.length !== 5 || section === 'Section' || /^-+$/.test(section)) return [];
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
      'PKCE (RFC 7636)',
      'Pushed authorization requests (RFC 9126)',
      'Signed requests (RFC 9101; Core, 6.1)',
      'Basic OP',
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

  it('The title check does not accept a test that is missing or has another title', () => {
    expect(
      hasTitle('test/architecture/conformance.test.ts', 'The conformance table names a test for every requirement'),
    ).toBe(true);
    expect(hasTitle('test/architecture/conformance.test.ts', 'The conformance table names a test for every')).toBe(
      false,
    );
  });
});

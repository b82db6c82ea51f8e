import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listIdentities } from '../../server/federation/index.ts';
import { findUser } from '../../server/users/index.ts';
import { comeBy, pathOf, somebody } from '../federation/steps.ts';
import { type Cli, cliOn } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { backends } from '../support/stores.ts';

const subOf = (n: number) => `${String(n).padStart(8, '0')}-5d7f-4c7f-8c7f-0123456789ab`;
/** The provider names of a Cognito user pool. */
const names = { google: 'Google', facebook: 'Facebook', amazon: 'LoginWithAmazon', oidc: 'AcmeId', saml: 'AcmeSaml' };
type Imported = keyof typeof names;
const kinds = Object.keys(names) as Imported[];
const given = ['--provider', 'AcmeId=acme-oidc', '--provider', 'AcmeSaml=acme-saml'];

describe.each(backends)('accounts at providers in an imported file, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  let cli: Cli;
  let dir: string;
  beforeAll(async () => {
    providers = await startProviders();
    const environment = providers.environment((file) => ({ ...file, facebook: { secondFactor: 'required' } }));
    foyer = await startFoyer(backend, {
      ...environment,
      GUESS_LIMIT_ADDRESS: '100000',
      SIGN_UP_LIMIT_ADDRESS: '100000',
    });
    const { urls } = foyer.stores;
    cli = cliOn(urls, environment);
    dir = mkdtempSync(join(tmpdir(), 'foyer-import-links-'));
  });
  afterAll(async () => {
    rmSync(dir, { recursive: true, force: true });
    await foyer?.close();
    await providers?.close();
  });

  const db = () => foyer.stores.database.db;
  let members = 0;
  let files = 0;
  function row(identities: unknown, more: Record<string, unknown> = {}) {
    members += 1;
    const email = `imported${members}@example.com`;
    return { sub: subOf(members), email, email_verified: true, identities, ...more };
  }
  async function importing(rows: object[], ...options: string[]) {
    files += 1;
    const [file, report] = [join(dir, `members${files}.json`), join(dir, `report${files}.csv`)];
    writeFileSync(file, JSON.stringify(rows));
    const run = await cli('user', 'import', file, '--json', '--report', report, ...given, ...options);
    return {
      code: run.code,
      err: run.err,
      counts: run.json() as Record<string, number>,
      report: readFileSync(report, 'utf8'),
    };
  }
  const identityOf = (kind: Imported, userId: string, more = {}) => ({
    userId,
    providerName: names[kind],
    providerType: names[kind],
    issuer: null,
    primary: true,
    dateCreated: 1_600_000_000_000,
    ...more,
  });

  it.each(kinds)(
    'An imported %s identity signs in without a code or an offer to link, and the sub is the imported one',
    async (kind) => {
      const who = somebody(providers, kind, { subject: `${kind}-subject-1` });
      const imported = row(JSON.stringify([identityOf(kind, who.subject ?? '')]));
      expect(await importing([imported])).toMatchObject({ code: 0, counts: { added: 1, linked: 1, notes: 0 } });
      const links = await listIdentities(db(), toUserId(imported.sub));
      expect(links).toMatchObject([{ kind, subject: who.subject, linkedAt: 1_600_000_000_000, lastUsedAt: null }]);
      const browser = foyer.browser();
      const to = pathOf(foyer, await comeBy(providers, browser, kind, who));
      expect(to).toMatch(/^\/tos/);
      expect((await listIdentities(db(), toUserId(imported.sub))).at(0)?.lastUsedAt).not.toBeNull();
      // The rules of a link hold: Foyer still requires what the provider's settings require.
      expect((await findUser(db(), toUserId(imported.sub)))?.secondFactorRequired).toBe(kind === 'facebook');
    },
  );

  it('A subject that is linked to another user is reported and not imported, and that user keeps it', async () => {
    const who = somebody(providers, 'google', { subject: 'taken-subject' });
    await comeBy(providers, foyer.browser(), 'google', who);
    const before = await db().selectFrom('federatedIdentities').selectAll().orderBy('id').execute();
    const attack = row([identityOf('google', 'taken-subject')]);
    for (const option of [['--dry-run'], []]) {
      const { counts, report } = await importing([attack], ...option);
      expect(counts).toMatchObject({ added: 1, linked: 0, notes: 1 });
      expect(report).toContain(`1,${attack.sub},note,"identities: one is linked to another member here; left out"`);
      expect(report).not.toContain('taken-subject');
    }
    expect(await db().selectFrom('federatedIdentities').selectAll().orderBy('id').execute()).toEqual(before);
  });

  it('Of two rows that name one subject the first gets it, and a rehearsal reports the same', async () => {
    // The second is in another transaction.
    const between = Array.from({ length: 120 }, () => row(undefined));
    const twice = () => row([identityOf('google', 'named-twice')]);
    const rows = [twice(), ...between, twice()];
    const rehearsed = await importing(rows, '--dry-run');
    const { counts, report } = await importing(rows);
    expect(counts).toMatchObject({ added: 122, linked: 1, notes: 1 });
    expect([rehearsed.counts.linked, rehearsed.report]).toEqual([counts.linked, report]);
    expect(await listIdentities(db(), toUserId(rows[0]?.sub ?? ''))).toHaveLength(1);
    expect(await listIdentities(db(), toUserId(rows.at(-1)?.sub ?? ''))).toEqual([]);
  });

  it('An imported account with an unconfirmed address is not linked to its creator’s provider account', async () => {
    const who = somebody(providers, 'google', { subject: 'creator', emailVerified: false });
    const planted = row([identityOf('google', 'creator')], { email_verified: false });
    const { counts, report } = await importing([planted]);
    expect(counts).toMatchObject({ added: 1, linked: 0 });
    expect(report).toContain('identities: email_verified is not true; left out');
    expect(await listIdentities(db(), toUserId(planted.sub))).toEqual([]);
    await comeBy(providers, foyer.browser(), 'google', who);
    expect(await listIdentities(db(), toUserId(planted.sub))).toEqual([]);
  });

  it('A later file links nothing to the account of an existing user', async () => {
    const first = row(undefined);
    await importing([first]);
    const { counts } = await importing([{ ...first, identities: [identityOf('google', 'added-later')] }]);
    expect(counts).toMatchObject({ there: 1, linked: 0 });
    expect(await listIdentities(db(), toUserId(first.sub))).toEqual([]);
  });

  it.each([
    ['a text in place of the list', 'google', 'identities: is no list of at most 20 identities; left out'],
    ['a list that is too long', Array(21).fill({}), 'identities: is no list of at most 20 identities; left out'],
    [
      'a provider without a configured name',
      [identityOf('google', '1', { providerName: 'SignInWithApple' })],
      'names; left out',
    ],
    ['__proto__ as the provider', [identityOf('google', '1', { providerName: '__proto__' })], 'names; left out'],
    ['no subject', [identityOf('google', '')], 'identities: one has no userId that names a person; left out'],
    ['a subject with a line break', [identityOf('google', 'a\nb')], 'no userId that names a person; left out'],
    ['a subject that is too long', [identityOf('google', 'x'.repeat(256))], 'no userId that names a person; left out'],
    ['entries that are no objects', [null, 7], 'names; left out'],
  ])(
    'A wrong list of identities is left out with a note, and the user is imported: %s',
    async (_what, identities, why) => {
      const imported = row(identities);
      const { counts, report } = await importing([imported]);
      expect(counts).toMatchObject({ added: 1, refused: 0, linked: 0 });
      expect(report).toContain(why);
      expect(await listIdentities(db(), toUserId(imported.sub))).toEqual([]);
    },
  );

  it('A --provider option that names an unknown provider imports nothing', async () => {
    const imported = row([]);
    const file = join(dir, 'refused.json');
    writeFileSync(file, JSON.stringify([imported]));
    for (const wrong of ['Acme=unknown-provider', 'acme-oidc', '=acme-oidc', 'Google=google']) {
      const run = await cli('user', 'import', file, '--provider', wrong);
      expect([wrong, run.code === 0, run.err.includes('write NAME=id')]).toEqual([wrong, false, true]);
    }
    expect(await findUser(db(), toUserId(imported.sub))).toBeUndefined();
  });
});

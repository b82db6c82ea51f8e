import { findUserByIdentifier } from '../../server/users/index.ts';
import { plainHasher } from '../sign-up/plain-hasher.ts';
import { begin, newAddress, newPassword, profile } from '../sign-up/steps.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const codeStep = '/signup/emailCaptured';

describe.each(backends)('uniform answers of sign-up, resend and sign-in, on $name', (backend) => {
  let foyer: TestFoyer;
  const hasher = plainHasher();
  beforeAll(async () => {
    foyer = await startFoyer(
      backend,
      { PREVENT_USER_EXISTENCE_ERRORS: 'true', SIGN_UP_LIMIT_ADDRESS: '100000' },
      { passwords: hasher },
    );
  });
  afterAll(() => foyer?.close());

  /** Everything that a visitor who tries an address sees, and the work behind it. */
  async function tryOut(email: string) {
    const seen: unknown[] = [];
    const browser = foyer.browser();
    const shown = (text: string) =>
      text
        .replaceAll(email, 'EMAIL')
        .replaceAll(encodeURIComponent(email), 'EMAIL')
        .replace(/nonce="[^"]*"/g, '')
        // The time that the machine took does not matter.
        .replace(/\d+ s\b/g, 'SECONDS')
        .replace(/waitSeconds&quot;:\d+/g, 'SECONDS')
        .replace(/<time dateTime="[^"]*">[^<]*/g, '<time>')
        // The passkey challenge is new on every page.
        .replace(/challenge&quot;:&quot;[\w-]+/g, 'CHALLENGE');
    const rows = async () => {
      const { db } = foyer.stores.database;
      const [outbox, begun] = await Promise.all([
        db
          .selectFrom('outbox')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .executeTakeFirst(),
        db
          .selectFrom('signUps')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .executeTakeFirst(),
      ]);
      return [Number(outbox?.n), Number(begun?.n)];
    };
    const look = async (act: () => Promise<Response>) => {
      const [hashed, verified, before] = [hasher.hashed, hasher.verified, await rows()];
      const answer = await act();
      const after = await rows();
      seen.push({
        status: answer.status,
        location: answer.headers.get('location'),
        cookies: answer.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, '')),
        text: shown(await answer.text()),
        work: [hasher.hashed - hashed, hasher.verified - verified, ...after.map((n, at) => n - (before[at] ?? 0))],
      });
    };
    await look(() => browser.post('/signup', profile(email)));
    await look(() => browser.get(codeStep));
    await look(() => browser.post(codeStep, { act: 'resend' }));
    for (let n = 0; n < 6; n += 1) await look(() => browser.post(codeStep, { code: String(100_000 + n) }));
    await look(() => browser.get('/signup'));
    const other = foyer.browser();
    await look(() => other.post('/sign-in', { username: email, password: 'something else 8' }));
    // The attacker uses the password of the sign-up.
    await look(() => other.post('/sign-in', { username: email, password: newPassword }));
    await look(() => other.get('/verify-code'));
    await look(() => other.post('/verify-code', { code: '123456' }));
    return seen;
  }

  it('Status, texts, cookies, hashing and mails do not reveal whether an address belongs to a user', async () => {
    const user = await foyer.addUser({ passwordHash: 'plain:of the member' });
    const stranger = newAddress();
    const [asMember, asStranger] = [await tryOut(user.email), await tryOut(stranger)];
    expect(asMember).toEqual(asStranger);
    expect(asMember).toHaveLength(14);
    const templates = async (email: string) => (await foyer.mails(email)).map(({ template }) => template);
    expect(await templates(user.email)).toEqual(['account-exists', 'account-exists']);
    expect(await templates(stranger)).toEqual(['verify-email', 'verify-email']);
    // The user still signs in, with one check of the password.
    const before = hasher.verified;
    const answer = await foyer.browser().post('/sign-in', { username: user.email, password: 'of the member' });
    expect([answer.status, hasher.verified - before]).toEqual([303, 1]);
    expect(locationOf(answer)).not.toContain('verify-code');
  });

  it('An address that becomes a user’s in the meantime keeps getting the same answers', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    await mallory.post('/signup', profile(email, { password: 'mallory knows 7' }));
    await ida.post(codeStep, { code: await begin(foyer, ida, email) });
    expect(await findUserByIdentifier(foyer.stores.database.db, { email })).toBeDefined();
    expect((await mallory.get(codeStep)).status).toBe(200);
    const again = foyer.browser();
    const answer = await again.post('/sign-in', { username: email, password: 'mallory knows 7' });
    expect(locationOf(answer)).toBe(`${foyer.url}/verify-code`);
    // The worker may deliver them in any order.
    const templates = (await foyer.mails(email)).map(({ template }) => template).sort();
    expect(templates).toEqual(['account-exists', 'verify-email', 'verify-email', 'welcome']);
  });

  it('The JSON calls do not reveal whether an address belongs to a user either', async () => {
    const user = await foyer.addUser();
    const call = async (email: string) => {
      const { terms: _, ...body } = profile(email);
      const answer = await foyer.browser().postJson('/identity/signUp', body);
      const { flow } = (await answer.json()) as { flow: string };
      const wrong = await foyer.browser().postJson('/identity/confirmSignUp', { flow, code: '000000' });
      return [answer.status, flow.length, wrong.status];
    };
    expect(await call(user.email)).toEqual(await call(newAddress()));
  });

  it('A user gets at most ten mails a day about sign-ups with the own address (mail bombs)', async () => {
    const user = await foyer.addUser();
    for (let n = 0; n < 14; n += 1) await foyer.browser().post('/signup', profile(user.email));
    expect(await foyer.mails(user.email)).toHaveLength(10);
  });
});

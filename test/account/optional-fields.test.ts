import { findUser, type User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

/** The standard claims of the scope `profile` (OpenID Connect Core 1.0, section 5.4). */
const standardClaims =
  'name family_name given_name middle_name nickname preferred_username profile website gender birthdate zoneinfo locale updated_at'.split(
    ' ',
  );

describe('optional fields of the profile', () => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  afterEach(() => foyer?.close());

  async function start(fields: string): Promise<void> {
    foyer = await startFoyer(anyBackend, { PROFILE_FIELDS: fields });
    user = await foyer.addUser();
    browser = await foyer.signedIn(user);
  }
  const stored = () => findUser(foyer.deps.database.db, user.id);
  const save = (input: Record<string, string>) => browser.post('/settings/profile', { gender: '0', ...input });
  const claims = async () =>
    (
      await tokensFor(await relyingParty(foyer, await foyer.addClient({ idTokenClaims: true })), browser, user)
    ).claims();
  const published = async () => {
    const answer = await sendRequest(`${foyer.url}/.well-known/openid-configuration`);
    return ((await answer.json()) as { claims_supported: string[] }).claims_supported;
  };
  const all = {
    nickname: 'Vee',
    middle_name: 'Maria',
    website: 'https://vera.example/',
    profile: 'https://vera.example/me',
  };

  it('With all of them on, a member who fills in everything has each standard claim of the scope profile', async () => {
    await start('nickname,middle_name,website,profile');
    const others = { birthdate: '1984-02-29', gender: '1', preferred_username: 'vera', zoneinfo: 'UTC', locale: 'en' };
    expect((await save({ ...others, ...all })).status).toBe(303);
    const given: Record<string, unknown> = { ...(await claims()) };
    expect(standardClaims.filter((claim) => given[claim] === undefined)).toEqual([]);
    expect(given).toMatchObject(all);
    expect(await published()).toEqual(expect.arrayContaining(standardClaims));
  });

  it('A field that is off is in no form, is not stored, and is no claim even if it was stored before', async () => {
    await start('nickname');
    const html = await (await browser.get('/settings/profile')).text();
    expect(html).toContain('name="nickname"');
    expect(html).not.toMatch(/name="(?:middle_name|website|profile)"/);
    expect(await (await browser.get('/settings?tab=user-data')).text()).not.toContain('Website');
    await foyer.deps.database.db.updateTable('users').set({ website: all.website }).where('id', '=', user.id).execute();
    expect((await save({ nickname: 'Vee', middle_name: 'Maria' })).status).toBe(303);
    expect(await stored()).toMatchObject({ nickname: 'Vee', middleName: null, website: all.website });
    const given = await claims();
    expect(given).toMatchObject({ nickname: 'Vee' });
    expect(given).not.toHaveProperty('website');
    expect(await published()).not.toContain('website');
    const call = await browser.postJson('/identity/updateUserAttributes', { website: 'https://other.example/' });
    expect(call.status).toBe(400);
  });

  it.each([
    'vera.example',
    'javascript:alert(1)',
    'ftp://vera.example/',
    'https://',
    `https://vera.example/${'x'.repeat(200)}`,
  ])('The website %s is refused at its field', async (website) => {
    await start('website');
    const answer = await save({ website });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('field-website-error')]);
    expect((await stored())?.website).toBeNull();
  });
});

import { texts } from '../../locales/index.ts';
import { exportUserData, findUser, type User, userDataForm } from '../../server/users/index.ts';
import { listTextFields } from '../../views/account/user-data.ts';
import type { Browser } from '../support/browser.ts';
import { eachSignedInUser, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const userData = {
  birthdate: '1984-02-29',
  gender: '1',
  address: 'Oudegracht 245\r\n3511 NL Utrecht',
  company: 'Lindqvist & Daughters',
  job_title: 'Restorer',
  newsletter: '1',
  locale: 'nl',
};

describe.each(backends)('name and user data in the settings on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  eachSignedInUser(backend, { PROFILE_FIELDS: 'nickname,middle_name,website,profile' }, (setting) => {
    ({ foyer, user, browser } = setting);
  });

  const stored = async () => {
    const found = await findUser(foyer.deps.database.db, user.id);
    if (!found) throw new Error('the member is gone');
    return found;
  };

  it('A new name is stored, confirmed by a notice and mailed in the user’s language', async () => {
    const answer = await browser.post(
      '/settings/name',
      { given_name: ' Vera ', family_name: 'Fyfe' },
      {
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        'accept-language': 'de',
      },
    );
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/settings#settings:name');
    expect(await stored()).toMatchObject({ givenName: 'Vera', familyName: 'Fyfe' });
    const home = await (await browser.get('/settings#settings:name')).text();
    expect(home).toMatch(/class="snackbar".*"durationMs&quot;:3000|class="snackbar".*durationMs&quot;:3000/s);
    expect(home).toContain('Your data has been saved.');
    const mails = await foyer.mails(user.email);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatchObject({
      template: 'security-notice',
      subject: 'Foyer: Ihr Name wurde geändert',
      values: { change: 'name', device: 'Firefox unter Linux', address: '127.0.0.1', givenName: 'Ada' },
    });
    expect(mails[0]?.values).not.toHaveProperty('detail');
  });

  it('Unchanged data are no change, and no mail is sent', async () => {
    const same = { given_name: user.givenName, family_name: user.familyName };
    expect((await browser.post('/settings/name', same)).status).toBe(303);
    expect((await stored()).updatedAt).toBe(user.updatedAt);
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  it('User data are stored as typed and shown again in the form', async () => {
    const answer = await browser.post('/settings/profile', userData);
    expect(answer.headers.get('location')).toBe('/settings?tab=user-data#settings:profile');
    expect(await stored()).toMatchObject({
      birthdate: '1984-02-29',
      gender: '1',
      address: 'Oudegracht 245\r\n3511 NL Utrecht',
      companyName: 'Lindqvist & Daughters',
      jobTitle: 'Restorer',
      newsletter: true,
      locale: 'nl',
    });
    const html = await (await browser.get('/settings/profile')).text();
    expect(html).toContain('<html lang="nl"');
    expect(html).toMatch(/name="birthdate"[^>]*value="1984-02-29"|value="1984-02-29"[^>]*name="birthdate"/);
    expect(html).toContain('<option value="1" selected="">Vrouw</option>');
    expect(html).toMatch(/<input[^>]*name="newsletter"[^>]*checked=""|checked=""[^>]*name="newsletter"/);
    const mails = await foyer.mails(user.email);
    expect(mails.map(({ values }) => values.change)).toEqual(['profile']);
  });

  it('All user data may be removed again, and then the browser’s language counts', async () => {
    await browser.post('/settings/profile', userData);
    const { newsletter: _, ...rest } = userData;
    const nothing = Object.fromEntries(Object.keys(rest).map((name) => [name, '']));
    expect((await browser.post('/settings/profile', { ...nothing, gender: '0' })).status).toBe(303);
    expect(await stored()).toMatchObject({
      birthdate: null,
      gender: '0',
      address: null,
      companyName: null,
      jobTitle: null,
      newsletter: false,
      locale: null,
    });
    expect(await (await browser.get('/settings')).text()).toContain('<html lang="en"');
  });

  it('Each text of the user data is stored, shown, exported and readable as an attribute', async () => {
    const names = listTextFields(userDataForm);
    const textOf = (name: (typeof names)[number]) =>
      userDataForm[name].html.type === 'url' ? `https://vera.example/${name}` : `My ${name}`;
    const typed = names.map((name) => [userDataForm[name].name, textOf(name)]);
    await browser.post('/settings/profile', { gender: '0', ...Object.fromEntries(typed) });
    expect(await stored()).toMatchObject(Object.fromEntries(names.map((name) => [name, textOf(name)])));
    const attributes = Object.fromEntries(names.map((name) => [userDataForm[name].attribute, textOf(name)]));
    expect(await exportUserData(foyer.deps.database.db, await stored())).toMatchObject({ attributes });
    const answer = await browser.get('/identity/userAttributes', { headers: { accept: 'application/json' } });
    expect(await answer.json()).toMatchObject(attributes);
    const form = await (await browser.get('/settings/profile')).text();
    const card = await (await browser.get('/settings?tab=user-data')).text();
    for (const name of names) {
      const label = texts.en.settings.userData.fields[name];
      expect(form).toContain(`value="${textOf(name)}"`);
      expect(card).toContain(`<dt>${label}</dt><dd>${textOf(name)}</dd>`);
    }
  });

  it('The mail about changed user data names the changed fields in its own language, without their values', async () => {
    await browser.post('/settings/profile', { ...userData, locale: 'de' });
    await browser.post('/settings/profile', { ...userData, locale: 'de', company: 'Oosterhuis', job_title: '' });
    const mails = await foyer.mails(user.email);
    expect(mails.map(({ values }) => values.detail)).toEqual([
      'Geburtsdatum, Geschlecht, Anschrift, Unternehmen, Position, Newsletter, Sprache',
      'Unternehmen, Position',
    ]);
    expect(mails[1]?.text).toMatch(/^Was: Unternehmen, Position$/m);
    for (const { text, html } of mails) {
      expect(`${text}${html}`).not.toMatch(/Lindqvist|Restorer|Oosterhuis|Oudegracht|1984-02-29/);
    }
  });

  it('A change of only the language sends no mail', async () => {
    await browser.post('/settings/profile', { gender: '0', locale: 'fr' });
    expect((await stored()).locale).toBe('fr');
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  it.each([
    ['/settings/name', { given_name: '' }, 'Cannot be empty'],
    ['/settings/name', { family_name: '   ' }, 'Cannot be empty'],
    ['/settings/name', { family_name: 'x'.repeat(101) }, 'Please use at most 100 characters.'],
    ['/settings/name', { given_name: 'Ve\u0007ra' }, 'Some characters aren’t allowed.'],
    ['/settings/profile', { birthdate: '2999-01-01' }, 'Please enter a date in the past'],
    ['/settings/profile', { birthdate: '2023-02-29' }, 'Please enter a date in the past'],
    ['/settings/profile', { birthdate: '1784-02-29' }, 'Please enter a date in the past'],
    ['/settings/profile', { birthdate: '29.2.1984' }, 'Please enter a date in the past'],
    ['/settings/profile', { gender: '4' }, 'Choose an option.'],
    ['/settings/profile', { gender: '' }, 'Choose an option.'],
    ['/settings/profile', { locale: 'es' }, 'Choose an option.'],
    ['/settings/profile', { address: 'x'.repeat(501) }, 'Please use at most 500 characters.'],
    ['/settings/profile', { company: 'x'.repeat(201) }, 'Please use at most 200 characters.'],
    ['/settings/profile', { job_title: 'a\u0000b' }, 'Some characters aren’t allowed.'],
  ])('The form %s refuses %j: %s', async (path, wrong, text) => {
    const right = path.endsWith('name') ? { given_name: 'Vera', family_name: 'Fyfe' } : userData;
    const answer = await browser.post(path, { ...right, ...wrong } as Record<string, string>);
    expect(answer.status).toBe(400);
    const html = await answer.text();
    expect(html).toContain(text);
    expect(html.match(/aria-invalid="true"/g)).toHaveLength(1);
    expect(html).toMatch(/role="alert".*Your data couldn’t be saved\./s);
    // The other entries stay.
    const names = Object.hasOwn(wrong, 'given_name') ? 'value="Fyfe"' : 'value="Vera"';
    const data = Object.hasOwn(wrong, 'job_title') ? 'Lindqvist &amp; Daughters' : 'value="Restorer"';
    expect(html).toContain(path.endsWith('name') ? names : data);
    expect(await stored()).toEqual(user);
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  it('A store that is away gives an error page that keeps everything typed', async () => {
    const transaction = foyer.deps.database.transaction;
    const { StoreUnavailable } = await import('../../server/store/index.ts');
    foyer.deps.database.transaction = () => Promise.reject(new StoreUnavailable('away'));
    const answer = await browser.post('/settings/name', { given_name: 'Vera', family_name: 'Fyfe' });
    foyer.deps.database.transaction = transaction;
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    const html = await answer.text();
    expect(html).toContain('Your data couldn’t be saved.');
    expect(html).toContain('value="Vera"');
    expect(await stored()).toEqual(user);
  });

  describe('user data by JSON', () => {
    const update = async (body: object) => {
      const answer = await browser.postJson('/identity/updateUserAttributes', body);
      return { status: answer.status, body: (await answer.json()) as { detail?: string; errors?: { name: string }[] } };
    };

    it('Attributes are read and changed under the names of the specification, and the user is notified', async () => {
      expect(await update({ given_name: 'Vera', 'custom:newsletter': 'true', 'custom:jobTitle': 'Joiner' })).toEqual({
        status: 200,
        body: { status: 'SUCCESS' },
      });
      const answer = await browser.get('/identity/userAttributes', { headers: { accept: 'application/json' } });
      expect(await answer.json()).toEqual({
        sub: user.id,
        email: user.email,
        email_verified: 'true',
        phone_number_verified: 'false',
        given_name: 'Vera',
        family_name: user.familyName,
        gender: '0',
        locale: 'en',
        'custom:newsletter': 'true',
        'custom:jobTitle': 'Joiner',
        'custom:tos_signed': 'true',
        'custom:tos_version': '1',
      });
      const mails = await foyer.mails(user.email);
      expect(mails.map(({ values }) => values.change).sort()).toEqual(['name', 'profile']);
    });

    it.each([
      [{ birthdate: 'tomorrow' }, 'body.birthdate'],
      [{ given_name: '' }, 'body.given_name'],
      [{ 'custom:newsletter': 'yes' }, 'body.custom:newsletter'],
      [{ email: 'new@example.com' }, 'body'],
      [{ sub: 'another' }, 'body'],
      [{ 'custom:tos_version': '7' }, 'body'],
    ])('The attributes %j are refused, and nothing is changed', async (body, name) => {
      const answer = await update(body);
      expect(answer.status).toBe(400);
      expect(answer.body.errors?.map((fault) => fault.name)).toEqual([name]);
      expect(await stored()).toEqual(user);
    });
  });
});

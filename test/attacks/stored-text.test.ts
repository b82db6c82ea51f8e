import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { service } from '../api/callers.ts';
import type { Browser } from '../support/browser.ts';
import { type PlainUser, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

/** Line and paragraph separators, and all characters that change the direction of text (Unicode UAX #9, section 2). */
const steering = [
  '\u2028',
  '\u2029',
  '\u202a',
  '\u202b',
  '\u202c',
  '\u202d',
  '\u202e',
  '\u2066',
  '\u2067',
  '\u2068',
  '\u2069',
];

const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)]);

describe.each(backends)('text that deceives readers or breaks programs, on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let token: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend, {
      MEDIA_URL: 'https://media.example.com/pictures/',
      SIGN_UP_LIMIT_ADDRESS: '1000',
    });
    ({ token } = await service(foyer, ['users:read', 'users:write']));
  });
  beforeEach(async () => {
    user = await foyer.addUser({ givenName: 'Ada', familyName: 'Byron' });
    browser = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const rowOf = () =>
    foyer.stores.database.db.selectFrom('users').selectAll().where('id', '=', user.id).executeTakeFirstOrThrow();
  const recordOf = async () => {
    const answer = await browser.postJson('/user/listUserWithPoolId', {});
    return ((await answer.json()) as { data: { Items: Record<string, unknown>[] } }).data.Items[0];
  };
  const plan = (body: object) => browser.postJson('/user/signup/plan', body);
  const raw = (path: string, body: string | Uint8Array, type: string) =>
    browser.request(path, {
      method: 'POST',
      headers: { 'content-type': type, accept: 'application/json', origin: foyer.url, 'sec-fetch-site': 'same-origin' },
      body: body as string,
    });

  it.each(steering.map((char) => [`U+${char.charCodeAt(0).toString(16).toUpperCase()}`, char]))(
    '%s in a name is refused by every form and call that accepts a name',
    async (_what, char) => {
      const name = `Ada${char}cod`;
      const before = await rowOf();
      const answers = [
        await browser.post('/settings/name', { given_name: name, family_name: 'Byron' }),
        await browser.post('/settings/profile', { gender: '0', company: name, job_title: 'x' }),
        await browser.postJson('/identity/updateUserAttributes', { family_name: name }),
        await browser.postJson('/identity/updateUserAttributes', { 'custom:jobTitle': name }),
        await plan({ firstName: name }),
        await plan({ company: name }),
        await plan({ companyCategory: name }),
        await plan({ about: `first\n${name}` }),
        await foyer.browser().postJson('/identity/signUp', {
          email: 'new@example.com',
          password: 'open sesame 7',
          given_name: name,
          family_name: 'x',
        }),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
      expect(await rowOf()).toEqual(before);
    },
  );

  it('A password may contain a text-direction character, because it is never shown', async () => {
    const { email } = await foyer.addUser();
    const answer = await foyer.browser().post('/sign-in', { username: email, password: 'correct\u202ehorse 9' });
    expect(await answer.text()).toContain('Incorrect');
  });

  it('A name that was stored with text-direction characters is shown without them', async () => {
    const tricky = await foyer.addUser({ givenName: 'Ada\u202e', familyName: '\u2066Byron\u2028' });
    const client = await relyingParty(foyer, await foyer.addClient({ thirdParty: true }), 'openid profile');
    const home = await foyer.signedIn(tricky);
    const consent = await home.get(new URL((await client.begin()).url).href);
    const page = await home.get(consent.headers.get('location') ?? '/');
    const [ofConsent, ofSettings] = [await page.text(), await (await home.get('/settings')).text()];
    expect(ofConsent).toContain('to use your account?');
    expect(ofSettings).toContain('Ada Byron');
    for (const html of [ofConsent, ofSettings]) {
      expect([...html].filter((char) => steering.includes(char))).toEqual([]);
    }
    const info = await home.get('/user/info', {
      headers: { accept: 'application/json', 'sec-fetch-site': 'same-origin' },
    });
    expect(await info.json()).toMatchObject({ name: 'Ada Byron' });
  });

  describe.each(['additionalAttributes', 'notificationSetting', 'socialMediaLinks'])('the JSON field %s', (field) => {
    const of = (json: string) => raw('/user/signup/plan', `{"${field}":${json}}`, 'application/json');
    it.each([
      ['17 levels', `{"a":${JSON.stringify(nested(16))}}`, 'nested'],
      ['1,001 levels', `{"a":${JSON.stringify(nested(1_000))}}`, 'nested'],
      ['NUL', '{"a":"x\\u0000"}', 'characters'],
      ['ESC in a list', '{"a":["x\\u001b[2J"]}', 'characters'],
      ['a lone surrogate', '{"a":{"b":"\\ud800"}}', 'characters'],
      ['a direction mark', '{"a":"x\\u202egnp.exe"}', 'characters'],
      ['a control character in a name', '{"a":{"\\u0007":1}}', 'name'],
      ['__proto__', '{"__proto__":{"isAdmin":true}}', '__proto__'],
      ['__proto__ further down', '{"a":[{"__proto__":1}]}', '__proto__'],
      ['a list', '[1]', 'object'],
      ['4,001 characters', JSON.stringify({ a: 'x'.repeat(4_000) }), 'characters'],
    ])('A JSON field with %s is refused, and the error says what is wrong', async (_what, json, why) => {
      const before = await recordOf();
      const answer = await of(json);
      expect(answer.status).toBe(400);
      const { errors } = (await answer.json()) as { errors: { name: string; detail: string }[] };
      expect(errors[0]?.name).toMatch(new RegExp(`^body\\.${field}`));
      expect(errors[0]?.detail).toContain(why);
      expect(await recordOf()).toEqual(before);
      expect(Reflect.get({}, 'isAdmin')).toBeUndefined();
    });

    it('A JSON field with 16 levels, lines, numbers and null is stored as it was sent', async () => {
      const sent = { a: nested(15), lines: 'one\ntwo\tthree', n: 1.5, none: null, ключ: ['ß', true] };
      expect((await of(JSON.stringify(sent))).status).toBe(200);
      expect((await recordOf())?.[field]).toEqual(sent);
    });
  });

  it('Invalid UTF-8 is refused in JSON and in forms and changes nothing', async () => {
    const before = await rowOf();
    const bytes = (before: string, after: string) =>
      new Uint8Array([...Buffer.from(before), 0x43, 0x61, 0x66, 0xe9, ...Buffer.from(after)]);
    const json = bytes('{"given_name":"', '"}');
    const form = bytes('family_name=Byron&given_name=', '');
    const type = 'application/x-www-form-urlencoded';
    const answers = [
      await raw('/identity/updateUserAttributes', json, 'application/json'),
      await raw('/user/signup/plan', bytes('{"firstName":"', '"}'), 'application/json'),
      await raw('/settings/name', form, type),
      await raw('/settings/name', 'family_name=Byron&given_name=Caf%E9', type),
      // The first text has a surrogate, the second an overlong form of a slash.
      await raw('/settings/name', 'family_name=Byron&given_name=%ED%A0%80', type),
      await raw('/settings/name', 'family_name=Byron&given_name=%C0%AF', type),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
    const latin = await raw('/settings/name', 'family_name=Byron&given_name=Caf%E9', `${type}; charset=iso-8859-1`);
    expect(latin.status).toBe(415);
    expect(await rowOf()).toEqual(before);
    const good = await raw('/settings/name', 'family_name=Byron&given_name=Caf%C3%A9+100%25', type);
    expect(good.status).toBe(303);
    expect((await rowOf()).givenName).toBe('Café 100%');
  });

  it.each([
    '../etc/passwd',
    'a/../../b.png',
    '/absolute.png',
    'https://evil.example/x.png',
    'http://media.example.com/x.png',
    'https://user:pass@media.example.com/x.png',
    '//evil.example/x.png',
    'javascript:alert(1)',
    '.hidden.png',
    'a//b.png',
  ])('The imageName %s is refused', async (imageName) => {
    const answer = await plan({ imageName });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { errors: { name: string }[] }).errors[0]?.name).toBe('body.imageName');
    expect((await recordOf())?.imageName ?? null).toBeNull();
  });

  it('imageName accepts a path below MEDIA_URL, an address there, nothing, and what is stored already', async () => {
    for (const imageName of ['members/42 (new).png', 'https://media.example.com/pictures/x.png', null, '']) {
      expect((await plan({ imageName })).status).toBe(200);
      expect((await recordOf())?.imageName).toBe(imageName);
    }
    await foyer.stores.database.db
      .updateTable('userRecords')
      .set({ imageName: '../from before.png' })
      .where('userId', '=', user.id)
      .execute();
    expect((await plan({ imageName: '../from before.png', about: 'x' })).status).toBe(200);
    expect((await plan({ imageName: '../another.png' })).status).toBe(400);
  });

  describe('POST /user/signup/plan', () => {
    it.each([[{ firstName: '' }], [{ lastName: '   ' }], [{ firstName: '', about: 'changed' }]])(
      'POST /user/signup/plan cannot empty a name, as no form can: %j',
      async (body) => {
        const before = await rowOf();
        const asMember = await plan({ ...body, company: 'Changed' });
        const asService = await foyer
          .browser()
          .postJson('/user/signup/plan', { ...body, userId: user.id }, { authorization: `Bearer ${token}` });
        expect([asMember.status, asService.status]).toEqual([400, 400]);
        expect(await rowOf()).toEqual(before);
        expect((await recordOf())?.about ?? '').toBe('');
      },
    );

    it('POST /user/signup/plan mails the user, even when a client app with users:write changes the name', async () => {
      expect((await plan({ firstName: 'Augusta', jobTitle: 'Analyst', about: 'x' })).status).toBe(200);
      await foyer
        .browser()
        .postJson('/user/signup/plan', { userId: user.id, lastName: 'King' }, { authorization: `Bearer ${token}` });
      const changes = (await foyer.mails(user.email)).filter(({ template }) => template === 'security-notice');
      expect(changes.map(({ values }) => values.change).sort()).toEqual(['name', 'name', 'profile']);
      expect(await recordOf()).toMatchObject({
        firstName: 'Augusta',
        lastName: 'King',
        jobTitle: 'Analyst',
        about: 'x',
      });
    });

    it('The 31st change of a name in an hour is refused, over the page and both calls together', async () => {
      const statuses: number[] = [];
      for (let n = 0; n < 10; n += 1) {
        const changes = [
          () => browser.post('/settings/name', { given_name: `A${n}`, family_name: 'Byron' }),
          () => browser.postJson('/identity/updateUserAttributes', { given_name: `B${n}` }),
          () => plan({ firstName: `C${n}` }),
        ];
        for (const change of changes) statuses.push((await change()).status);
      }
      expect(statuses.filter((status) => status !== 200 && status !== 303)).toEqual([]);
      const refused = await plan({ firstName: 'One too many', about: 'not stored' });
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await recordOf()).toMatchObject({ firstName: 'C9', about: '' });
    });

    it('No other code writes names, because setProfile has one caller', () => {
      const server = join(import.meta.dirname, '../../server');
      const callers = readdirSync(server, { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.tsx?$/.test(path))
        .filter((path) => /\bsetProfile\(/.test(readFileSync(join(server, path), 'utf8')))
        .sort();
      expect(callers).toEqual(['account/profile/save-profile.ts', 'users/profile-store.ts']);
    });
  });

  describe('claims', () => {
    const claimsOf = async (scope: string, member: Partial<PlainUser> = {}, gender = '0') => {
      const one = await foyer.addUser(member);
      await foyer.stores.database.db.updateTable('users').set({ gender }).where('id', '=', one.id).execute();
      const registered = await foyer.addClient({ scopes: scope.split(' '), idTokenClaims: true });
      const client = await relyingParty(foyer, registered, scope);
      const tokens = await tokensFor(client, foyer.browser(), one);
      return { one, info: await oidc.fetchUserInfo(client.config, tokens.access_token, one.id), id: tokens.claims() };
    };

    it.each(['openid profile', 'openid profile phone address'])(
      'No claim of a user without a name holds the address with the scope %s',
      async (scope) => {
        const { one, info, id } = await claimsOf(scope, { givenName: '', familyName: '' });
        expect(info).not.toHaveProperty('name');
        expect(JSON.stringify([info, id])).not.toContain(one.email);
      },
    );

    it('The e-mail address comes with the scope email alone and is not the name there either', async () => {
      const { one, info } = await claimsOf('openid profile email', { givenName: '', familyName: '' });
      expect(info).toMatchObject({ email: one.email });
      expect(info).not.toHaveProperty('name');
    });

    it.each([
      ['0', undefined],
      ['1', 'female'],
      ['2', 'male'],
      ['3', 'other'],
    ])('The stored gender %s is the claim %s in userinfo and ID token', async (stored, claim) => {
      const { info, id } = await claimsOf('openid profile', {}, stored);
      expect(info.gender).toBe(claim);
      expect([undefined, claim]).toContain(id?.gender);
    });
  });
});

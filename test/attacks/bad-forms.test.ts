import { password } from '../support/foyer.ts';
import { brokenBodies, form, isClear, json, oddValues, openScene, type Scene, shown, strictest } from './bad-input.ts';
import type { Sent } from './wire.ts';

const posted = (values: Record<string, string>): Sent => ({
  headers: { 'content-type': form },
  body: new URLSearchParams(values).toString(),
});

/** Every form of the product, with the fields that its page sends. */
const forms: Record<string, Record<string, string>> = {
  '/sign-in': { username: 'unknown@example.com', password: 'wrong', remember: '1' },
  '/sign-in/passkey': { credential: '{}', remember: '1' },
  '/re-authenticate/passkey': { credential: '{}' },
  '/settings/passkeys/add': { name: 'Laptop', credential: '{}' },
  '/signup': {
    given_name: 'Ida',
    family_name: 'Sommer',
    email: 'ida@example.com',
    password: 'open sesame 7',
    terms: '1',
    from: '',
    act: '',
  },
  '/signup/emailCaptured': { code: '123456', act: '' },
  '/verify-code': { code: '123456', act: 'resend' },
  '/forgot-password': { username: 'unknown@example.com' },
  '/reset-password?username=scene@example.com': { code: '123456', password: 'short', confirm: 'short', act: '' },
  '/second-factor': { code: '123456', method: 'totp', act: '', rememberDevice: '1' },
  '/re-authenticate': { password: 'wrong' },
  '/settings/name': { given_name: '', family_name: 'Sommer' },
  '/settings/profile': {
    birthdate: '1984-02-31',
    gender: '1',
    address: 'Here',
    company: 'Us',
    job_title: 'It',
    locale: 'de',
    newsletter: '1',
  },
  '/settings/password': { old_password: 'wrong', new_password: 'short' },
  '/settings/email': { email: 'unknown@example' },
  '/settings/email/code': { code: '123456', act: '' },
  '/settings/phone': { phone_number: '+123', act: '' },
  '/settings/phone/code': { code: '123456', act: 'resend' },
  '/undo-email-change': { token: 'x', password: 'short', confirm: 'short' },
  '/settings/data': {},
  '/settings/delete-account': { confirm: '2' },
  '/settings/factor-reset': {},
  '/cancel-factor-reset': { token: 'x' },
  '/tos': { decision: 'accept', version: '1' },
  '/storage': { authorization_code: 'WAITING' },
  '/consent': { authorization_code: 'WAITING', decision: 'allow' },
  '/logout': {
    client_id: 'x',
    logout_uri: 'x',
    state: 'x',
    redirect_uri: 'x',
    response_type: 'x',
    nonce: 'x',
    scope: 'x',
    code_challenge: 'x',
    code_challenge_method: 'x',
  },
  '/language': { lang: 'de', redirect: '/' },
};

/** Forms that may accept an odd value, because it is valid in one of their fields. */
const wanted = new Set(['/language', '/settings/name', '/settings/profile']);

describe.each(strictest())('bad forms on $name', (backend) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene(backend);
  });
  afterAll(() => scene?.foyer.close());

  const valid = (path: string) =>
    Object.fromEntries(
      Object.entries(forms[path] ?? {}).map(([name, v]) => [name, v === 'WAITING' ? scene.waiting : v]),
    );

  describe.each(Object.keys(forms))('POST %s', (path) => {
    it('An unreadable body is refused with a clear error', async () => {
      const before = await scene.stored();
      for (const [what, sent] of brokenBodies) {
        const answer = await scene.post(path, sent);
        expect([what, isClear(answer) ? 'clear' : shown(answer)]).toEqual([what, 'clear']);
        expect([what, answer.setCookies]).toEqual([what, []]);
      }
      expect(await scene.stored()).toBe(before);
    });

    it('A repeated field or a field that is not a text is refused', async () => {
      const before = await scene.stored();
      const names = Object.keys(forms[path] ?? {});
      for (const name of names) {
        const others = { ...valid(path) };
        delete others[name];
        const twice = new URLSearchParams(others);
        twice.append(name, 'a');
        twice.append(name, 'b');
        const sent: [string, Sent][] = [
          ['twice', { headers: { 'content-type': form }, body: twice.toString() }],
          ...[1, true, ['a'], { a: 'b' }, [[]]].map((value): [string, Sent] => [
            JSON.stringify(value),
            {
              headers: { 'content-type': json, accept: json },
              body: JSON.stringify({ ...others, [name]: value }),
            },
          ]),
        ];
        for (const [what, request] of sent) {
          const answer = await scene.post(path, request);
          expect([name, what, isClear(answer) ? 'clear' : shown(answer)]).toEqual([name, what, 'clear']);
        }
      }
      expect(await scene.stored()).toBe(before);
    });

    it('Odd values, odd names or an empty body never cause a server error', async () => {
      const before = await scene.stored();
      const isSession = (line: string) => line.startsWith('foyer_session=');
      const tried: [string, Sent][] = [
        ['no body', {}],
        ['an empty form', posted({})],
        ['an empty JSON object', { headers: { 'content-type': json }, body: '{}' }],
        ['a JSON list', { headers: { 'content-type': json }, body: '[{"username":"a"}]' }],
        ['unknown fields', posted({ nobody: 'knows', 'a[b][c]': 'd', '': '' })],
        [
          'names of prototypes',
          { headers: { 'content-type': json }, body: '{"__proto__":{"username":"a"},"constructor":{}}' },
        ],
        [
          'names of prototypes in a form',
          { headers: { 'content-type': form }, body: '__proto__[username]=a&constructor=b' },
        ],
        ['broken encoding', { headers: { 'content-type': form }, body: 'username=%E0%A4%A&%=%&=&&&password=%zz' }],
        ['a deep JSON', { headers: { 'content-type': json }, body: `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}` }],
        ...Object.keys(forms[path] ?? {}).flatMap((name) =>
          oddValues.flatMap(([what, value]): [string, Sent][] => [
            [`${name}: ${what}`, posted({ ...valid(path), [name]: value })],
            [
              `${name}: ${what}, as JSON`,
              {
                headers: { 'content-type': json, accept: json },
                body: JSON.stringify({ ...valid(path), [name]: value }),
              },
            ],
          ]),
        ),
      ];
      for (const [what, sent] of tried) {
        // A real sign-out would end the session that the other forms need.
        const answer = await scene.post(
          path,
          path === '/logout' ? { ...sent, headers: { ...sent.headers, cookie: '' } } : sent,
        );
        const fine = isClear(answer) || (answer.status >= 200 && answer.status < 400);
        expect([what, fine ? 'fine' : shown(answer)]).toEqual([what, 'fine']);
        expect(answer.text).not.toContain('<script>alert');
        if (path === '/sign-in') {
          expect([what, answer.status >= 400]).toEqual([what, true]);
          expect(answer.setCookies.filter(isSession)).toEqual([]);
        }
      }
      // A value that is odd in one field may be valid in another, such as a language, a name or a date of birth.
      if (!wanted.has(path)) expect(await scene.stored()).toBe(before);
    });

    it('Another method gets 405 with the allowed methods', async () => {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND', 'OPTIONS']) {
        const answer = await scene.post(path, {}, method);
        expect([method, answer.status]).toEqual([method, 405]);
        expect(answer.headers.allow).toMatch(/POST/);
      }
    });
  });

  it('No bad form leaves an error-level line in the log', () => {
    expect(scene.foyer.logged()).not.toContain('"level":50');
    expect(scene.foyer.logged()).not.toContain(password);
  });
});

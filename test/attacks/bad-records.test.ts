import { service } from '../api/callers.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { oddValues } from './bad-input.ts';

/** The deepest nesting that fits into 16 KiB. */
const deep = `${'['.repeat(8_000)}${']'.repeat(8_000)}`;

describe.each(backends)('calls on members with odd input, on $name', (backend) => {
  let foyer: TestFoyer;
  let token: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    ({ token } = await service(foyer, ['users:read', 'users:write', 'messages:send']));
  });
  afterAll(() => foyer?.close());

  const send = (path: string, body: string) =>
    foyer.browser().request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${token}` },
      body,
    });

  it('Odd ids and addresses from a client app are unknown or refused and cause no server error on any store', async () => {
    const calls: [string, (value: string) => object][] = [
      ['/user/listUserWithPoolId', (userId) => ({ userId })],
      ['/user/updateUser', (id) => ({ id })],
      ['/user/signup/plan', (userId) => ({ userId })],
      ['/message/sent', (userId) => ({ userId, title: 'a', description: 'b', category: 'c' })],
      ['/sentEmail', (emailAddress) => ({ emailAddress, action: 'welcome' })],
    ];
    const wrong: unknown[] = [];
    for (const [path, body] of calls) {
      for (const [what, value] of oddValues) {
        const { status } = await send(path, JSON.stringify(body(value)));
        if (![200, 400, 404].includes(status)) wrong.push([path, what, status]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('Odd addresses, names, flows and codes from a visitor are unknown or refused and cause no server error', async () => {
    const calls: [string, (value: string) => object][] = [
      ['/item/appsumo/checkSignupFromAppsumo', (email) => ({ email })],
      ['/identity/signUp', (value) => ({ email: value, password: value, given_name: value, family_name: value })],
      ['/identity/confirmSignUp', (value) => ({ flow: value, code: value.slice(0, 20) })],
      ['/identity/resendConfirmationCode', (flow) => ({ flow })],
    ];
    const wrong: unknown[] = [];
    for (const [path, body] of calls) {
      for (const [what, value] of oddValues) {
        const { status } = await foyer.browser().postJson(path, body(value));
        // Four times 15,000 characters exceed the limit of a body, hence 413.
        if (![200, 400, 404, 413].includes(status)) wrong.push([path, what, status]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each(['additionalAttributes', 'notificationSetting', 'socialMediaLinks'])(
    'Thousands of nested lists in %s are refused',
    async (name) => {
      const user = await foyer.addUser();
      const { status } = await send('/user/signup/plan', `{"userId":"${user.id}","${name}":{"a":${deep}}}`);
      expect(status).toBe(400);
    },
  );
});

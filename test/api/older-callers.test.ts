import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { insertUserRecord, type User } from '../../server/users/index.ts';
import { asMember, type Call } from '../billing/api-steps.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { newAddress, newPassword } from '../sign-up/steps.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

describe('What callers of the older services send', () => {
  let shop: Shop;
  let user: User;
  let call: Call;
  let recordId: string;
  beforeAll(async () => {
    shop = await startShop(anyBackend);
    user = await shop.foyer.addUser({ givenName: 'Ada', familyName: 'Byron' });
    const { database, now } = shop.foyer.deps;
    ({ id: recordId } = await database.transaction((trx) => insertUserRecord(trx, user.id, now())));
    call = await asMember(shop, user);
  });
  afterAll(() => shop?.close());

  it('POST /customer/ takes the customer alone like a list of one', async () => {
    const customer = { first_name: 'Ada', email: user.email, company: null, plan_name: 'Basic-Plan-M' };
    const listed = await call('POST', '/customer/', [customer]);
    expect(listed.status).toBe(200);
    expect(await call('POST', '/customer/', customer)).toEqual(listed);
    expect(await call('POST', '/customer/', { ...customer, currency: 'eur' })).toMatchObject({
      status: 409,
      body: { errors: [{ name: 'body.0.currency' }] },
    });
    for (const none of [[], 'ada', 7]) expect(await call('POST', '/customer/', none)).toMatchObject({ status: 400 });
  });

  it('POST /user/listPlans needs no body, and a call with a required field names it', async () => {
    const ask = (path: string, init: RequestInit) => sendRequest(shop.foyer.url + path, { method: 'POST', ...init });
    const withBody = await (await shop.foyer.browser().postJson('/user/listPlans', {})).json();
    const spellings: Record<string, string>[] = [{}, { 'content-length': '0' }, { 'content-type': 'application/json' }];
    for (const headers of spellings) {
      const answer = await ask('/user/listPlans', { headers });
      expect([headers, answer.status, await answer.json()]).toEqual([headers, 200, withBody]);
    }
    expect((await ask('/user/listplanWithId', { headers: { 'content-length': '0' } })).status).toBe(400);
    expect((await ask('/user/listPlans', { headers: { 'content-type': 'text/plain' }, body: '{}' })).status).toBe(415);
  });

  it('GraphQL has Amplify’s own fields, which are null', async () => {
    const query =
      'query($id: ID) {listUsers(filter: {userId: {eq: $id}}, limit: 200000) {items {userId _version _deleted _lastChangedAt} nextToken startedAt}}';
    const { body } = await call('POST', '/graphql', { query, variables: { id: user.id } });
    const item = { userId: user.id, _version: null, _deleted: null, _lastChangedAt: null };
    expect(body).toEqual({ data: { listUsers: { items: [item], nextToken: null, startedAt: null } } });
  });

  it('Attack: the errors of GraphQL do not send a long value back', async () => {
    const long = 'x'.repeat(10_000);
    const sent = { query: 'query($id: ID, $n: Int) {listUsers(limit: $n) {items {id}}}', variables: { n: long } };
    for (const body of [sent, { query: `{listUsers(limit: "${long}") {items {id}}}` }, { query: `{${long}}` }]) {
      const answer = await call('POST', '/graphql', body);
      const { errors } = answer.body as unknown as { errors: { message: string }[] };
      expect(errors.length).toBeGreaterThan(0);
      for (const { message } of errors) expect(message.length).toBeLessThanOrEqual(200);
      expect(JSON.stringify(answer.body).length).toBeLessThan(2_000);
    }
  });

  it('POST /user/signup/plan and POST /user/updateUser with a chosen paid plan get 409 and give nothing', async () => {
    expect(await call('POST', '/user/signup/plan', { planId: '10' })).toMatchObject({ status: 409 });
    expect(await call('POST', '/user/updateUser', { id: recordId, planId: '10' })).toMatchObject({ status: 409 });
    expect(await call('POST', '/user/updateUser', { id: recordId, source: 'appsumo' })).toMatchObject({ status: 409 });
    expect(await shop.userNow(user)).toMatchObject({ planId: null, source: 'general' });
  });

  it('POST /customer/{id}/paymenttypes/ with a source of Stripe gets 400, which names tokens and setup intents', async () => {
    const { customerId } = await shop.membership.ensure(user, 7);
    const answer = await call('POST', `/customer/${customerId}/paymenttypes/`, { source: 'src_1' });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ name: 'body.source' }] } });
    expect(answer.body.errors?.[0]?.detail).toMatch(/tok_.*seti_/);
  });

  it.each([
    ['/identity/confirmSignUp', { code: '123456' }],
    ['/identity/resendConfirmationCode', {}],
    ['/identity/forgotPasswordSubmit', { code: '123456', newPassword }],
  ])('POST %s with a user name in place of flow gets 400, which says where flow comes from', async (path, more) => {
    const answer = await call('POST', path, { username: newAddress(), ...more });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ name: 'body.flow' }] } });
    expect(answer.body.errors?.[0]?.detail).toMatch(/answer of the call/);
  });

  it('POST /sentEmail by a member gets 403, and GraphQL with an API key gets 401', async () => {
    expect(await call('POST', '/sentEmail', { emailAddress: user.email, action: 'password' })).toMatchObject({
      status: 403,
    });
    const byKey = await shop.foyer
      .browser()
      .postJson('/graphql', { query: '{listUsers {items {id}}}' }, { 'x-api-key': 'da2-key' });
    expect(byKey.status).toBe(401);
  });

  it('Every call of this file has a row in the section "Coming from the older callers" of docs/json-api.md', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'json-api.md'), 'utf8');
    const [, section = ''] = page.split('## Coming from the older callers');
    const [rows = ''] = section.split('\n## ');
    const calls = [
      '`POST /user/orderCreation`',
      '`POST /customer/`',
      '`POST /user/listPlans`',
      'GraphQL',
      '`POST /user/signup/plan`',
      '`POST /user/updateUser`',
      '`POST …/paymenttypes/`',
      '`POST /identity/confirmSignUp`',
      '`POST /sentEmail`',
      '`POST /storage`',
    ];
    expect(calls.filter((one) => !rows.includes(`| ${one}`))).toEqual([]);
  });
});

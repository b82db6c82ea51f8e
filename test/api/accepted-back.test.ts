import { z } from 'zod';
import { parseInput } from '../../server/http/api-operation.ts';
import type { ApiOperation } from '../../server/http/index.ts';
import { insertUserRecord, type User } from '../../server/users/index.ts';
import { asClient, asMember, type Call } from '../billing/api-steps.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { anyBackend } from '../support/stores.ts';
import { ownPage } from './callers.ts';
import { call, inputOf, makePromotionCode } from './examples.ts';

/** Fields that have another meaning where the name occurs in an answer. */
const otherMeaning = new Set([
  // Of an answer: where a member came from. Of the call: a card.
  'savePaymentType.source',
]);

/** The fields of a body, and the body with one of them replaced. */
function fieldsOf({ body }: ApiOperation) {
  const isList = body instanceof z.ZodArray;
  const schema = isList ? body.element : body;
  const shape: Record<string, z.ZodType> = schema instanceof z.ZodObject ? schema.shape : {};
  const replace = (example: unknown, name: string, value: unknown) =>
    isList ? [{ ...(example as object[])[0], [name]: value }] : { ...(example as object), [name]: value };
  return Object.entries(shape).map(([name, field]) => ({
    name,
    path: isList ? `body.0.${name}` : `body.${name}`,
    isOptional: field.isOptional(),
    replace,
  }));
}

/** Every value of an answer by its name, with null and text apart. */
function collect(into: Map<string, Map<string, unknown>>, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, one] of Object.entries(value)) {
    const known = into.get(name) ?? new Map<string, unknown>();
    into.set(name, known.set(JSON.stringify(one), one));
    collect(into, one);
  }
}

/** The names of the parts of the input that a call refuses. */
function refusedParts(operation: ApiOperation, body: unknown): string[] {
  try {
    parseInput(operation.body, body, 'body');
    return [];
  } catch (error) {
    const { options } = error as { options: { invalidParams: { name: string; detail: string }[] } };
    return options.invalidParams.map(({ name, detail }) => `${name}: ${detail}`);
  }
}

describe('The JSON API accepts what it has answered', () => {
  let shop: Shop;
  let bare: User;
  let full: User;
  let asFull: Call;
  beforeAll(async () => {
    shop = await startShop(anyBackend, {
      CARD_LIMIT_ADDRESS: '100000',
      PROFILE_FIELDS: 'nickname,middle_name,website,profile',
    });
    await makePromotionCode(shop);
    await shop.foyer.addClient({ id: 'known', logoutUris: ['http://127.0.0.1:9/out'] });
    const { database, now } = shop.foyer.deps;
    [bare, full] = [await shop.foyer.addUser(), await shop.foyer.addUser({ givenName: 'Ada', familyName: 'Byron' })];
    for (const { id } of [bare, full]) await database.transaction((trx) => insertUserRecord(trx, id, now()));
    asFull = await asMember(shop, full);
    const attributes = {
      preferred_username: 'ada.byron',
      birthdate: '1990-12-31',
      gender: '1',
      address: 'Hauptstraße 1\n10115 Berlin',
      'custom:companyName': 'Engines Ltd',
      'custom:jobTitle': 'Analyst',
      nickname: 'Ada',
      middle_name: 'King',
      website: 'https://example.com/ada',
      profile: 'https://example.com/ada/about',
      'custom:newsletter': 'true',
      locale: 'de',
      zoneinfo: 'Europe/Berlin',
    };
    expect(await asFull('POST', '/identity/updateUserAttributes', attributes)).toMatchObject({ status: 200 });
    const record = {
      about: 'I write\nprograms.',
      companyCategory: 'engines',
      userType: 'person',
      imageName: 'ada.png',
    };
    expect(await asFull('POST', '/user/signup/plan', record)).toMatchObject({ status: 200 });
  });
  afterAll(() => shop?.close());

  /** The answers of every call to these two members. */
  async function allAnswers(): Promise<Map<string, Map<string, unknown>>> {
    const values = new Map<string, Map<string, unknown>>();
    const { foyer } = shop;
    for (const user of [bare, full]) {
      const [record] = (
        (await (await asMember(shop, user))('POST', '/user/listUserWithPoolId', {})).body.data as {
          Items: { id: string }[];
        }
      ).Items;
      const named = { userId: user.id, email: user.email, recordId: record?.id ?? '' };
      for (const operation of foyer.app.operations) {
        if (operation.id === 'changePassword') continue;
        const letIn = operation.access === 'public' || operation.access.member !== undefined;
        if (!letIn) continue;
        const credentials = { browser: await foyer.signedIn(user), headers: ownPage(foyer) };
        const answer = await call(foyer.url, operation, credentials, await inputOf(operation, named, shop, true));
        if (answer.status === 200) collect(values, await answer.json());
      }
    }
    return values;
  }

  it('Every value of an answer fits every call that has a field of that name', async () => {
    const values = await allAnswers();
    expect([...(values.get('planId')?.values() ?? [])]).toEqual(expect.arrayContaining([null]));
    expect(values.get('company')?.size).toBeGreaterThan(1);
    const refused: string[] = [];
    const compared: string[] = [];
    const named = { userId: full.id, email: full.email, recordId: 'record' };
    for (const operation of shop.foyer.app.operations) {
      const { body: example = {} } = await inputOf(operation, named, shop, false);
      for (const { name, path, isOptional, replace } of fieldsOf(operation)) {
        const field = `${operation.id}.${name}`;
        if (otherMeaning.has(field)) continue;
        for (const value of values.get(name)?.values() ?? []) {
          if (value === null && !isOptional && field !== 'listPlanWithId.planId') continue;
          compared.push(field);
          const faults = refusedParts(operation, replace(example, name, value)).filter((one) => one.startsWith(path));
          if (faults.length > 0) refused.push(`${field} = ${JSON.stringify(value)}: ${faults.join('; ')}`);
        }
      }
    }
    expect(refused).toEqual([]);
    expect(new Set(compared).size).toBeGreaterThan(50);
  });

  it('Every optional field of every call accepts null', () => {
    const refused: string[] = [];
    let compared = 0;
    for (const operation of shop.foyer.app.operations) {
      for (const { name, path, isOptional, replace } of fieldsOf(operation)) {
        if (!isOptional) continue;
        compared += 1;
        const faults = refusedParts(operation, replace([{}], name, null)).filter((one) => one.startsWith(`${path}:`));
        if (faults.length > 0) refused.push(`${operation.id}: ${faults.join('; ')}`);
      }
    }
    expect(refused).toEqual([]);
    expect(compared).toBeGreaterThan(60);
  });

  it('A user record without company, job title and plan can be passed on to every call that has such fields', async () => {
    const { database, now } = shop.foyer.deps;
    const user = await shop.foyer.addUser();
    await database.transaction((trx) => insertUserRecord(trx, user.id, now()));
    const asBare = await asMember(shop, user);
    const { body } = await asBare('POST', '/user/listUserWithPoolId', {});
    const [record] = (body.data as { Items: Record<string, unknown>[] }).Items;
    expect(record).toMatchObject({ company: null, jobTitle: null, imageName: null });
    const { company, jobTitle, planId, userId, id, source } = record ?? {};
    const message = { title: 'Hello', description: '', category: 'task', company, jobTitle, plan: null, userId };
    const sent = await asBare('POST', '/message/sent', message);
    expect(sent.status).toBe(200);
    // Absent, and not the text "null".
    expect(Object.keys(sent.body)).not.toEqual(expect.arrayContaining(['company']));
    const service = await asClient(shop, 'messages:send');
    const mail = { emailAddress: user.email, action: 'password', fullname: null, pagename: null, plan: null };
    expect(await service('POST', '/sentEmail', { ...mail, variables: null })).toMatchObject({ status: 200 });
    expect(await asBare('POST', '/user/updateUser', { id, planId, source })).toMatchObject({ status: 200 });
    const completed = await asBare('POST', '/user/signup/plan', { company, jobTitle, imageName: null, planId });
    expect(completed.body.data).toMatchObject({ company: null, jobTitle: null, imageName: null });
  });

  it('A null in a user record removes a value that may be null, and leaves the others', async () => {
    const before = (await asFull('POST', '/user/listUserWithPoolId', {})).body.data as {
      Items: [{ firstName: string }];
    };
    const [{ firstName }] = before.Items;
    expect(firstName).toMatch(/^\w+$/);
    const sent = { firstName: null, about: null, socialMediaLinks: null, source: null, company: null, imageName: null };
    const { body } = await asFull('POST', '/user/signup/plan', sent);
    expect(body.data).toMatchObject({ firstName, about: 'I write\nprograms.', source: 'general' });
    expect(body.data).toMatchObject({ company: null, imageName: null, jobTitle: expect.any(String) });
  });

  it('The claims of user info are accepted as user attributes', async () => {
    const { body } = await asFull('GET', '/user/info');
    expect(body).toMatchObject({ gender: 'female', address: { formatted: expect.stringContaining('Berlin') } });
    const { gender, address, locale, zoneinfo } = body;
    const attributes = { gender, address, locale, zoneinfo, 'custom:newsletter': false };
    expect(await asFull('POST', '/identity/updateUserAttributes', attributes)).toMatchObject({ status: 200 });
    const after = await asFull('GET', '/identity/userAttributes');
    expect(after.body).toMatchObject({
      gender: '1',
      address: 'Hauptstraße 1\n10115 Berlin',
      'custom:newsletter': 'false',
    });
    const other = await asFull('POST', '/identity/updateUserAttributes', { gender: 'unknown' });
    expect(other).toMatchObject({ status: 400, body: { errors: [{ name: 'body.gender' }] } });
  });

  it('Ids of plans may be numbers', async () => {
    const { body } = await asFull('POST', '/user/listplanWithId', { planId: 10 });
    expect(body).toMatchObject({ Items: [{ id: '10', planAmount: 99 }] });
    const none = await asFull('POST', '/user/listplanWithId', { planId: null });
    expect(none).toMatchObject({ status: 200, body: { Items: [] } });
    expect(await asFull('POST', '/user/listplanWithId', { planId: 10.5 })).toMatchObject({ status: 400 });
  });

  it.each([
    ['an empty list', [], {}],
    ['JSON text', '{"web":"https://example.com"}', { web: 'https://example.com' }],
    ['JSON text of an empty list', '[]', {}],
  ])('additionalAttributes, notificationSetting and socialMediaLinks may be %s', async (_what, sent, stored) => {
    const fields = { additionalAttributes: sent, notificationSetting: sent, socialMediaLinks: sent };
    const answer = await asFull('POST', '/user/signup/plan', fields);
    expect(answer.body.data).toMatchObject({
      additionalAttributes: stored,
      notificationSetting: stored,
      socialMediaLinks: stored,
    });
  });

  it.each([
    ['text that is no JSON', 'web'],
    ['JSON text of a number', '7'],
    ['JSON text with a name that is refused', '{"__proto__":{"a":1}}'],
    ['JSON text with a control character', '{"a":"\\u0000"}'],
    ['JSON text of 17 levels', `{"a":${'['.repeat(16)}${']'.repeat(16)}}`],
  ])('A JSON field with %s is refused', async (_what, sent) => {
    const answer = await asFull('POST', '/user/signup/plan', { socialMediaLinks: sent });
    expect(answer).toMatchObject({ status: 400 });
  });
});

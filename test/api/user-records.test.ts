import { claimsFor, findUser, importPartnerDeals, insertUserRecord, type User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { service } from './callers.ts';

describe.each(backends)('user records in the JSON API, on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let recordId: string;
  let token: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    ({ token } = await service(foyer, ['users:read', 'users:write']));
  });
  beforeEach(async () => {
    user = await foyer.addUser({ givenName: 'Ada', familyName: 'Byron' });
    ({ id: recordId } = await foyer.deps.database.transaction((trx) => insertUserRecord(trx, user.id, Date.now())));
  });
  afterAll(() => foyer?.close());

  const asMember = async (path: string, body: object, who = user) => (await foyer.signedIn(who)).postJson(path, body);
  const asClient = (path: string, body: object) =>
    foyer.browser().postJson(path, body, { authorization: `Bearer ${token}` });

  const named = async (answer: Response) => {
    const { data } = (await answer.json()) as { data: { Items: { userId: string }[] } };
    return data.Items.map(({ userId }) => userId);
  };

  it('A service looks up several users with one call, in its order; unknown ids are left out', async () => {
    const other = await foyer.addUser();
    await foyer.deps.database.transaction((trx) => insertUserRecord(trx, other.id, Date.now()));
    const withoutRecord = await foyer.addUser();
    const userIds = [other.id, 'unknown', user.id, other.id, withoutRecord.id];
    const answer = await asClient('/user/listUserWithPoolId', { userIds });
    expect(answer.status).toBe(200);
    expect(await named(answer)).toEqual([other.id, user.id]);
  });

  it('A hundred users are one look-up, and more or none are refused', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => (at === 0 ? user.id : `unknown-${at}`));
    expect(await named(await asClient('/user/listUserWithPoolId', { userIds: ids(100) }))).toEqual([user.id]);
    for (const body of [{ userIds: ids(101) }, { userIds: [] }, { userId: user.id, userIds: [user.id] }]) {
      expect((await asClient('/user/listUserWithPoolId', body)).status).toBe(400);
    }
  });

  it('Attack: a member who names several users, or only themselves in a list, gets none', async () => {
    const other = await foyer.addUser();
    for (const userIds of [[user.id, other.id], [user.id]]) {
      const answer = await asMember('/user/listUserWithPoolId', { userIds });
      expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([
        403,
        'urn:foyer:problem:wrongCaller',
      ]);
    }
  });

  it('A user record has the shape of the specification', async () => {
    const answer = await asClient('/user/listUserWithPoolId', { userId: user.id });
    const { data } = (await answer.json()) as { data: { Items: object[] } };
    expect(data.Items).toEqual([
      {
        id: recordId,
        userId: user.id,
        username: user.email,
        firstName: 'Ada',
        lastName: 'Byron',
        jobTitle: null,
        company: null,
        planId: null,
        source: 'general',
        stripeCustomerId: null,
        about: '',
        additionalAttributes: {},
        imageName: null,
        notificationSetting: {},
        socialMediaLinks: {},
        status: 'active',
        totalRewards: '5',
        userAttributes: {
          sub: user.id,
          email: user.email,
          email_verified: 'true',
          phone_number_verified: 'false',
          given_name: 'Ada',
          family_name: 'Byron',
          gender: '0',
          locale: 'en',
          'custom:newsletter': 'false',
          'custom:tos_signed': 'true',
          'custom:tos_version': '1',
        },
        companyCategory: null,
        userType: null,
        createdAt: expect.any(Number),
        updatedAt: expect.any(Number),
      },
    ]);
  });

  it('A user without a record gets an empty list, not an error', async () => {
    const other = await foyer.addUser();
    const answer = await asMember('/user/listUserWithPoolId', {}, other);
    expect(await answer.json()).toEqual({ data: { Items: [], data: { Items: [] } } });
  });

  it('Attack: a user reaches no other user’s record, by either id', async () => {
    const stranger = await foyer.addUser();
    expect((await asMember('/user/listUserWithPoolId', { userId: user.id }, stranger)).status).toBe(403);
    expect((await asMember('/user/updateUser', { id: recordId, source: 'general' }, stranger)).status).toBe(404);
    expect((await asMember('/user/signup/plan', { userId: user.id, about: 'mine now' }, stranger)).status).toBe(403);
    const unknown = await asMember('/user/updateUser', { id: 'no such record' }, stranger);
    expect(unknown.status).toBe(404);
  });

  it.each([
    ['planId', '15'],
    ['source', 'appsumo'],
    ['stripeCustomerId', 'cus_1'],
    ['totalRewards', '5000'],
    ['status', 'vip'],
    ['username', 'eve@example.com'],
  ])('Attack: a browser cannot change its own %s', async (name, value) => {
    const answer = await asMember('/user/signup/plan', { [name]: value });
    expect(answer.status).toBe(409);
    const record = (await (await asMember('/user/listUserWithPoolId', {})).json()) as { data: { Items: object[] } };
    expect(Reflect.get(record.data.Items[0] ?? {}, name)).not.toBe(value);
    if (name === 'planId' || name === 'source') {
      expect((await asMember('/user/updateUser', { id: recordId, [name]: value })).status).toBe(409);
      expect((await asClient('/user/updateUser', { id: recordId, [name]: value })).status).toBe(409);
    }
  });

  it('A user’s own profile values are stored, and values that are stored already are accepted', async () => {
    const told = {
      firstName: 'Augusta',
      jobTitle: 'Analyst',
      company: 'Engines Ltd',
      about: 'I write\nprograms.',
      socialMediaLinks: { web: 'https://example.com' },
      source: 'general',
    };
    const refused = await asMember('/user/signup/plan', { ...told, jobTitle: 'Analyst\nin chief' });
    expect(refused.status).toBe(400);
    const answer = await asMember('/user/signup/plan', told);
    expect(answer.status).toBe(200);
    const { data } = (await answer.json()) as { data: Record<string, unknown> };
    expect(data).toMatchObject({ ...told, lastName: 'Byron', totalRewards: '5' });
    const after = await findUser(foyer.deps.database.db, user.id);
    const nothing = { plan: undefined, entitlements: [] };
    expect(after && claimsFor(after, new Set(['profile']), nothing)).toMatchObject({
      given_name: 'Augusta',
      'custom:companyName': 'Engines Ltd',
      'custom:jobTitle': 'Analyst',
    });
  });

  it('A partner deal is reported until a user has claimed it, whatever the spelling of its address', async () => {
    const { database } = foyer.deps;
    await database.transaction((trx) => importPartnerDeals(trx, [{ email: user.email, tier: 2 }], 1));
    const check = async (email: string) =>
      (await (await foyer.browser().postJson('/item/appsumo/checkSignupFromAppsumo', { email })).json()) as object;
    expect(await check(` ${user.email.toUpperCase()}`)).toEqual({ exist: true });
    expect(await check('unknown@example.com')).toEqual({ exist: false });
    expect(await check('no address')).toEqual({ exist: false });
    await database.db.updateTable('partnerDeals').set({ userId: user.id }).where('email', '=', user.email).execute();
    expect(await check(user.email)).toEqual({ exist: false });
  });

  it('Attack: guessing the addresses of deals is rate limited', async () => {
    const statuses = new Set<number>();
    for (let n = 0; n < 40; n += 1) {
      const answer = await foyer
        .browser()
        .postJson('/item/appsumo/checkSignupFromAppsumo', { email: `a${n}@b.example` });
      statuses.add(answer.status);
      if (answer.status === 429) expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect(statuses).toContain(429);
  });
});

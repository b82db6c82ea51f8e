import { listedMessage } from '../../server/messages/read-messages.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { service, signedInto } from './callers.ts';

interface Item {
  id: string;
  title: string;
  status: string;
}
interface Answer {
  data?: {
    listMessages?: { items: Item[]; nextToken: string | null } | null;
    readMessage?: Item | null;
    readAllMessages?: { read: number } | null;
    listUsers?: unknown;
  } | null;
  errors?: { message: string }[];
  type?: string;
  scope?: string;
}

const fields = Object.keys(listedMessage.omit({ MessageDeduplicationId: true, MessageGroupId: true }).shape);
const list =
  'query($filter: ModelMessageFilterInput, $limit: Int, $nextToken: String) {listMessages(filter: $filter, limit: $limit, nextToken: $nextToken) {items {id title status} nextToken}}';
const readOne = 'mutation($id: ID!) {readMessage(id: $id) {id title status}}';
const readAll = 'mutation {readAllMessages {read}}';

describe.each(backends)('notifications by GraphQL, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  async function send(userId: string, titles: readonly string[]): Promise<void> {
    const { outbox, database, outboxWorker } = foyer.deps;
    for (const title of titles) {
      const message = {
        channel: 'notification',
        userId: toUserId(userId),
        title,
        description: 'x',
        category: 'task',
      } as const;
      await database.transaction((trx) => outbox.add(trx, message));
      // Ids of one millisecond have no order.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await outboxWorker.turn();
  }

  const post = (token: string, query: string, variables: object = {}) =>
    sendRequest(`${foyer.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
  const ask = async (token: string, query: string, variables: object = {}) =>
    (await (await post(token, query, variables)).json()) as Answer;
  const titlesOf = ({ data }: Answer) => data?.listMessages?.items.map(({ title }) => title);

  async function memberWith(titles: readonly string[]) {
    const { user, tokens } = await signedInto(foyer);
    await send(user.id, titles);
    return { user, token: tokens.access_token };
  }
  const statuses = async (token: string) =>
    (await ask(token, list)).data?.listMessages?.items.map(({ status }) => status);

  it('The field listMessages answers the same notifications as GET /messages', async () => {
    const { token } = await memberWith(['one', 'two']);
    const byGraphql = await ask(token, `{listMessages {items {${fields.join(' ')}} nextToken startedAt}}`);
    const byCall = await sendRequest(`${foyer.url}/messages`, { headers: { authorization: `Bearer ${token}` } });
    const { items } = (await byCall.json()) as { items: object[] };
    const absent = Object.fromEntries(fields.map((field) => [field, null]));
    expect(byGraphql).toEqual({
      data: {
        listMessages: { items: items.map((item) => ({ ...absent, ...item })), nextToken: null, startedAt: null },
      },
    });
    expect(titlesOf(byGraphql)).toEqual(['two', 'one']);
  });

  it('Pages have no gaps, limit and status hold, and Amplify’s own fields are null', async () => {
    const titles = ['one', 'two', 'three', 'four', 'five'];
    const { token } = await memberWith(titles);
    const seen: string[] = [];
    let nextToken: string | null = null;
    do {
      const answer: Answer = await ask(token, list, { limit: 2, nextToken });
      const page = titlesOf(answer) ?? [];
      expect(page.length).toBeLessThanOrEqual(2);
      seen.push(...page);
      nextToken = answer.data?.listMessages?.nextToken ?? null;
    } while (nextToken !== null);
    expect(seen).toEqual(titles.toReversed());
    const [newest] = (await ask(token, list, { limit: 1 })).data?.listMessages?.items ?? [];
    expect((await ask(token, readOne, { id: newest?.id })).data?.readMessage).toEqual({ ...newest, status: 'read' });
    expect(titlesOf(await ask(token, list, { filter: { status: { eq: 'read' } } }))).toEqual(['five']);
    expect(titlesOf(await ask(token, list, { filter: { status: { eq: 'unread' } } }))).toHaveLength(4);
    const amplify = await ask(token, '{listMessages(limit: 1) {items {_version _deleted _lastChangedAt}}}');
    expect(amplify.data?.listMessages?.items).toEqual([{ _version: null, _deleted: null, _lastChangedAt: null }]);
  });

  it('readMessage marks one notification and readAllMessages the rest, and repeating them changes nothing', async () => {
    const { token } = await memberWith(['one', 'two', 'three']);
    const [, second] = (await ask(token, list)).data?.listMessages?.items ?? [];
    for (let times = 0; times < 2; times += 1) {
      expect((await ask(token, readOne, { id: second?.id })).data?.readMessage?.status).toBe('read');
      expect(await statuses(token)).toEqual(['unread', 'read', 'unread']);
    }
    expect(await ask(token, readAll)).toEqual({ data: { readAllMessages: { read: 2 } } });
    expect(await ask(token, readAll)).toEqual({ data: { readAllMessages: { read: 0 } } });
    expect(await statuses(token)).toEqual(['read', 'read', 'read']);
  });

  it('A service with messages:read names the member, and its scope opens no user record', async () => {
    const { user, token } = await memberWith(['for Ada']);
    await memberWith(['for Bob']);
    const reader = await service(foyer, ['messages:read']);
    const named = { filter: { userId: { eq: user.id } } };
    expect(titlesOf(await ask(reader.token, list, named))).toEqual(['for Ada']);
    const unnamed = await post(reader.token, list);
    expect([unnamed.status, await unnamed.json()]).toMatchObject([
      400,
      { type: 'urn:foyer:problem:validation', errors: [{ name: 'filter.userId.eq', detail: 'which member is meant' }] },
    ]);
    for (const eq of ['unknown', '', '%', 'a\u0000b', 'x'.repeat(9_000)]) {
      const answer = await post(reader.token, list, { filter: { userId: { eq } } });
      expect([eq.slice(0, 9), answer.status]).toEqual([eq.slice(0, 9), 404]);
    }
    const record = await post(reader.token, `{listUsers(filter: {userId: {eq: "${user.id}"}}) {items {id}}}`);
    expect([record.status, await record.json()]).toMatchObject([403, { scope: 'users:read' }]);
    expect(record.headers.get('www-authenticate')).toContain('scope="users:read"');
    expect(await statuses(token)).toEqual(['unread']);
  });

  it('Attack: a service without messages:read, and one that marks, are refused and change nothing', async () => {
    const { user, token } = await memberWith(['one']);
    const [{ id } = { id: '' }] = (await ask(token, list)).data?.listMessages?.items ?? [];
    const records = await service(foyer, ['users:read']);
    const both = await service(foyer, ['users:read', 'messages:read']);
    const sender = await service(foyer, ['messages:send', 'users:write']);
    const named = { filter: { userId: { eq: user.id } } };
    const without = await post(records.token, list, named);
    expect([without.status, await without.json()]).toMatchObject([403, { scope: 'messages:read' }]);
    const mixed = `query($eq: ID) {listUsers(filter: {userId: {eq: $eq}}) {items {id}} listMessages(filter: {userId: {eq: $eq}}) {items {title}}}`;
    expect((await post(records.token, mixed, { eq: user.id })).status).toBe(403);
    expect((await ask(both.token, mixed, { eq: user.id })).data).toMatchObject({
      listMessages: { items: [{ title: 'one' }] },
    });
    expect((await post(sender.token, list, named)).status).toBe(403);
    for (const caller of [records, both]) {
      for (const [mutation, variables] of [
        [readOne, { id }],
        [readAll, {}],
      ] as const) {
        const answer = await post(caller.token, mutation, variables);
        expect([answer.status, await answer.json()]).toMatchObject([403, { type: 'urn:foyer:problem:wrongCaller' }]);
      }
    }
    expect(await statuses(token)).toEqual(['unread']);
  });

  it('Attack: a member reads and marks no other member’s notification, and learns of none', async () => {
    const ada = await memberWith(['for Ada']);
    const bob = await memberWith(['for Bob']);
    const [{ id } = { id: '' }] = (await ask(bob.token, list)).data?.listMessages?.items ?? [];
    const foreign = await post(ada.token, list, { filter: { userId: { eq: bob.user.id } } });
    expect([foreign.status, await foreign.json()]).toMatchObject([403, { type: 'urn:foyer:problem:otherMember' }]);
    const unknown = await post(ada.token, list, { filter: { userId: { eq: 'unknown' } } });
    expect(unknown.status).toBe(403);
    for (const one of [id, 'none', '', '%', 'x'.repeat(9_000), 'a\u0000b']) {
      const answer = await post(ada.token, readOne, { id: one });
      expect([answer.status, await answer.json()]).toMatchObject([
        404,
        { type: 'urn:foyer:problem:unknownNotification' },
      ]);
    }
    expect(await ask(ada.token, readAll)).toEqual({ data: { readAllMessages: { read: 1 } } });
    expect(await statuses(bob.token)).toEqual(['unread']);
    const [own] = (await ask(ada.token, list)).data?.listMessages?.items ?? [];
    expect(
      titlesOf(await ask(bob.token, list, { nextToken: `0~${own?.id}` }))?.every((title) => title === 'for Bob'),
    ).toBe(true);
  });

  it('Attack: bounds of a page, made-up page tokens, aliases and repeated marks are refused', async () => {
    const { token } = await memberWith(['one']);
    for (const [variables, words] of [
      [{ limit: 0 }, /limit: 1 to 100/],
      [{ limit: -1 }, /limit: 1 to 100/],
      [{ limit: 101 }, /limit: 1 to 100/],
      [{ limit: 200_000 }, /limit: 1 to 100/],
      [{ nextToken: '2' }, /nextToken/],
      [{ nextToken: '1~' }, /nextToken/],
      [{ nextToken: "0~x' or 1=1" }, /nextToken/],
      [{ filter: { status: { eq: 'deleted' } } }, /MessageStatus/],
      [{ filter: { or: [] } }, /not defined|\$filter/],
    ] as const) {
      const { data, errors } = await ask(token, list, variables);
      expect([data?.listMessages ?? null, errors?.[0]?.message]).toEqual([null, expect.stringMatching(words)]);
    }
    for (const query of [
      'mutation {a: readAllMessages {read} b: readAllMessages {read}}',
      'mutation {readMessage(id: "a") {id} readMessage(id: "b") {id}}',
      'query {readAllMessages {read}}',
      'mutation {listMessages {items {id}}}',
      '{listMessages {items {details}}}',
    ])
      expect((await ask(token, query)).errors?.length).toBeGreaterThan(0);
    expect(await statuses(token)).toEqual(['unread']);
  });

  it('Attack: a member who has not accepted new terms reads notifications and marks none', async () => {
    const { user, token } = await memberWith(['one']);
    const [{ id } = { id: '' }] = (await ask(token, list)).data?.listMessages?.items ?? [];
    const { db } = foyer.deps.database;
    await db.updateTable('users').set({ acceptedTosVersion: null }).where('id', '=', user.id).execute();
    const browser = await foyer.signedIn(await foyer.addUser({ acceptedTosVersion: null }));
    expect(await statuses(token)).toEqual(['unread']);
    for (const [mutation, variables] of [
      [readOne, { id }],
      [readAll, {}],
    ] as const) {
      for (const answer of [
        await post(token, mutation, variables),
        await browser.postJson('/graphql', { query: mutation, variables }),
      ])
        expect([answer.status, await answer.json()]).toMatchObject([
          403,
          { type: 'urn:foyer:problem:termsNotAccepted' },
        ]);
    }
    expect(await statuses(token)).toEqual(['unread']);
  });

  it('Attack: a page of another site marks nothing with the session, and a token without account is refused', async () => {
    const user = await foyer.addUser();
    await send(user.id, ['one']);
    const browser = await foyer.signedIn(user);
    for (const headers of [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
    ])
      expect((await browser.postJson('/graphql', { query: readAll }, headers)).status).toBe(403);
    expect((await browser.postJson('/graphql', { query: readAll })).status).toBe(200);
    const { tokens } = await signedInto(foyer, 'openid account:security');
    expect((await post(tokens.access_token, readAll)).status).toBe(403);
    expect((await post(tokens.access_token, list)).status).toBe(403);
  });
});

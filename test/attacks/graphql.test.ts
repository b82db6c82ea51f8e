import { getIntrospectionQuery } from 'graphql';
import { apiScopes } from '../../server/http/index.ts';
import { insertUserRecord, type User } from '../../server/users/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { workTime } from '../support/own-time.ts';
import { strictest } from './bad-input.ts';
import { production, site } from './production.ts';
import { type Answer, basicOf, callByServer, send, Visitor } from './wire.ts';

const { host } = new URL(site);
const types = { json: 'application/json', graphql: 'application/graphql-response+json' };
const everything =
  '{listUsers{items{id userId username firstName lastName imageName userAttributes stripeCustomerId} nextToken}}';

describe.each(strictest())('GraphQL under attack, as in production, on $name', (backend) => {
  let foyer: TestFoyer;
  let port: number;
  let [ada, bob]: User[] = [];
  let visitor: Visitor;
  let tokens: { users: string; plans: string };

  async function member(): Promise<User> {
    const user = await foyer.addUser();
    await foyer.deps.database.transaction((trx) => insertUserRecord(trx, user.id, Date.now()));
    return user;
  }
  beforeAll(async () => {
    foyer = await startFoyer(backend, production);
    port = foyer.deps.config.PORT;
    [ada, bob] = [await member(), await member()];
    visitor = new Visitor(port, site);
    await visitor.get('/');
    const entered = await visitor.post('/sign-in', { username: ada.email, password });
    expect(entered.status).toBe(303);
    const client = await foyer.addClient({ service: true, redirectUris: [], scopes: [...apiScopes] });
    const tokenFor = async (scope: string) => {
      const fields = { grant_type: 'client_credentials', scope };
      const { text } = await callByServer(port, '/oauth2/token', fields, { host, authorization: basicOf(client) });
      return (JSON.parse(text) as { access_token: string }).access_token;
    };
    tokens = { users: await tokenFor('users:read'), plans: await tokenFor('plans:read users:write') };
  });
  afterAll(() => foyer?.close());
  const own = { origin: site, 'sec-fetch-site': 'same-origin' };
  const post = (body: unknown, headers: Record<string, string> = {}) => {
    const sent = { 'content-type': types.json, accept: types.json, ...own, ...headers };
    return visitor.send('/graphql', { method: 'POST', headers: sent, body: JSON.stringify(body) });
  };
  const asClient = (token: string, body: unknown) =>
    send(port, '/graphql', {
      method: 'POST',
      headers: { host, authorization: `Bearer ${token}`, 'content-type': types.json, accept: types.json },
      body: JSON.stringify(body),
    });
  const parsed = ({ text }: Answer) =>
    JSON.parse(text) as { data?: Record<string, unknown> | null; errors?: { message: string }[] };
  const itemsOf = (answer: Answer) =>
    (parsed(answer).data as { listUsers: { items: Record<string, unknown>[] } }).listUsers.items;
  /** Nothing was looked up, and the error repeats only what was sent. */
  function refused(answer: Answer, words: RegExp): void {
    const { data, errors = [] } = parsed(answer);
    expect([answer.status, data?.listUsers ?? null]).toEqual([200, null]);
    expect(errors.map(({ message }) => message).join('\n')).toMatch(words);
    expect(answer.text).not.toMatch(/did you mean|stack|node_modules|server\//i);
  }

  it('The query of the existing callers returns the user’s own record', async () => {
    const query = `query ListUsers($filter: ModelUserFilterInput, $limit: Int, $nextToken: String) {
      listUsers(filter: $filter, limit: $limit, nextToken: $nextToken) { items { userId imageName } nextToken }
    }`;
    const answer = await post({ query, variables: { filter: { userId: { eq: ada?.id } }, limit: 200_000 } });
    expect(parsed(answer)).toEqual({
      data: { listUsers: { items: [{ userId: ada?.id, imageName: null }], nextToken: null } },
    });
  });

  it('A user gets the own record or none, whatever the query asks for (over-fetching)', async () => {
    for (const query of [
      everything,
      everything.replace('listUsers{', 'listUsers(limit: 200000){'),
      everything.replace('listUsers{', 'listUsers(filter: {}){'),
      everything.replace('listUsers{', 'listUsers(filter: {userId: {}}){'),
      everything.replace('listUsers{', 'listUsers(filter: {userId: {eq: null}}){'),
    ]) {
      expect(itemsOf(await post({ query })).map(({ userId }) => userId)).toEqual([ada?.id]);
    }
    for (const eq of [
      bob?.id,
      bob?.email,
      'unknown-user',
      '',
      '%',
      '*',
      `${ada?.id} `,
      'a\u0000b',
      'x'.repeat(9_000),
    ]) {
      const query = 'query($eq: ID) {listUsers(filter: {userId: {eq: $eq}}) {items {id userId username}}}';
      expect(itemsOf(await post({ query, variables: { eq } }))).toEqual([]);
    }
    for (const filter of [
      '{username: {eq: "x"}}',
      '{or: [{userId: {eq: "x"}}]}',
      '{userId: {ne: "x"}}',
      '{userId: {contains: ""}}',
      '{userId: {eq: ["x", "y"]}}',
      '{userId: {eq: {ne: "x"}}}',
    ]) {
      refused(await post({ query: everything.replace('listUsers{', `listUsers(filter: ${filter}){`) }), /./);
    }
  });

  it('The schema contains nothing that is not in the user record (over-fetching)', async () => {
    for (const field of ['passwordHash', 'totpSecret', 'acceptedTosVersion', 'sessions{id}', 'items{id}', 'user{id}']) {
      refused(await post({ query: `{listUsers{items{id ${field}}}}` }), /^Cannot query field/);
    }
  });

  it('A client app names up to 100 users by `in`; a user may not, and neither may name more', async () => {
    const query =
      'query($in: [ID!], $limit: Int) {listUsers(filter: {userId: {in: $in}}, limit: $limit) {items {userId username}}}';
    const several = [bob?.id, 'unknown', ada?.id];
    const found = await asClient(tokens.users, { query, variables: { in: several, limit: 200_000 } });
    expect(itemsOf(found)).toEqual([
      { userId: bob?.id, username: bob?.email },
      { userId: ada?.id, username: ada?.email },
    ]);
    refused(await post({ query, variables: { in: several } }), /for services alone/);
    refused(await post({ query, variables: { in: [ada?.id] } }), /for services alone/);
    const tooMany = Array.from({ length: 101 }, () => bob?.id);
    refused(await asClient(tokens.users, { query, variables: { in: tooMany } }), /at most 100 ids/);
    refused(await asClient(tokens.users, { query, variables: { in: several, limit: 2 } }), /number of ids/);
    const both = query.replace('{in: $in}', '{in: $in, eq: "x"}');
    refused(await asClient(tokens.users, { query: both, variables: { in: several } }), /write eq or in/);
  });

  it('A client app that has the scope and names a user gets that user alone', async () => {
    const query = 'query($eq: ID) {listUsers(filter: {userId: {eq: $eq}}) {items {userId username}}}';
    const found = await asClient(tokens.users, { query, variables: { eq: bob?.id } });
    expect(itemsOf(found)).toEqual([{ userId: bob?.id, username: bob?.email }]);
    refused(await asClient(tokens.users, { query: everything }), /which member is meant/);
    refused(await asClient(tokens.users, { query, variables: { eq: null } }), /which member is meant/);
    expect((await asClient(tokens.plans, { query, variables: { eq: bob?.id } })).status).toBe(403);
    expect((await asClient('guessed', { query })).status).toBe(401);
  });

  it('Aliases, batches and several operations are refused', async () => {
    const times = (n: number, each: (i: number) => string) => Array.from({ length: n }, (_, i) => each(i)).join(' ');
    const alias = `{${times(20, (i) => `a${i}: listUsers {items {id}}`)}}`;
    refused(await post({ query: alias }), /^Aliases are not accepted/);
    refused(await post({ query: '{listUsers {items {x: id}}}' }), /^Aliases are not accepted/);
    refused(await post({ query: '{...F} fragment F on Query {a: listUsers {items {id}}}' }), /^Aliases/);
    refused(
      await post({ query: 'query A {listUsers {items {id}}} query B {listUsers {items {id}}}' }),
      /one operation/,
    );
    refused(await post({ query: 'query A {listUsers {items {id}}}', operationName: 'B' }), /operation/);
    // A persisted query, named by its hash, is refused.
    expect((await post({ extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } })).status).toBe(
      400,
    );
    for (const batch of [[{ query: everything }], [{ query: everything }, { query: everything }], []]) {
      expect((await post(batch)).status).toBe(400);
    }
  });

  it('A repeated field is looked up once, and one with conflicting arguments is refused', async () => {
    const differing = '{listUsers(limit: 1) {items {id}} listUsers(limit: 2) {items {id}}}';
    refused(await post({ query: differing }), /conflict/);
    const reads: string[] = [];
    const query = `{${'...F '.repeat(40)}${'listUsers {items {id}} '.repeat(20)}} fragment F on Query {listUsers {items {userId}}}`;
    reads.push(...itemsOf(await post({ query })).map((item) => Object.keys(item).toSorted().join()));
    expect(reads).toEqual(['id,userId']);
  });

  it.each([
    ['a document of many fields', `{listUsers {items {${'id '.repeat(600)}}}}`, /more that 500 tokens|token/],
    ['a repeated directive', `{listUsers {items {id ${'@include(if: true) '.repeat(40)}}}}`, /can only be used once/],
    ['unknown directives', `{listUsers {items {id ${'@a '.repeat(240)}}}}`, /Unknown directive/],
    ['thousands of directives', `{listUsers {items {id ${'@a'.repeat(5_000)}}}}`, /token/],
    ['a document of deep fields', `${'{listUsers '.repeat(100)}${'}'.repeat(100)}`, /Syntax Error|Nested|Cannot query/],
    ['deep selections', `{${'...{'.repeat(60)}listUsers{items{id}}${'}'.repeat(60)}}`, /Nested more than 15/],
    ['deep values', `{listUsers(filter: ${'['.repeat(300)}${']'.repeat(300)}) {items {id}}}`, /token/],
    ['deep values of few tokens', `{listUsers(filter: ${'['.repeat(200)}${']'.repeat(200)}) {items {id}}}`, /./],
    ['fragments in a circle', '{...A} fragment A on Query {...B} fragment B on Query {...A}', /within itself/],
    ['an unused fragment', '{listUsers {items {id}}} fragment F on User {id}', /never used/],
    ['many variables', `query(${'$a: ID '.repeat(100)}) {listUsers {items {id}}}`, /./],
    ['an unknown mutation', 'mutation {deleteUser(id: "x") {id}}', /^Cannot query field/],
    ['a subscription', 'subscription {listUsers {items {id}}}', /subscription/],
    ['an empty document', '', /Syntax Error/],
    ['a document without a selection', 'query', /Syntax Error/],
    ['garbage', '\u0000\u0001{{{', /Syntax Error/],
    ['the prototype as a field', '{__proto__ {constructor}}', /Cannot query field/],
    ['a negative limit', '{listUsers(limit: -1) {items {id}}}', /limit: write 1/],
    ['a limit that is too large', '{listUsers(limit: 99999999999) {items {id}}}', /Int cannot represent/],
    ['a made-up page token', '{listUsers(nextToken: "2") {items {id}}}', /nextToken: none was given/],
  ])('A bad document is refused: %s', async (_what, query, words) => {
    const workedMs = workTime();
    refused(await post({ query }), words);
    expect(workedMs()).toBeLessThan(1_000);
  });

  it('Variables that do not fit are refused, however deeply they are nested', async () => {
    const query = 'query($filter: ModelUserFilterInput) {listUsers(filter: $filter) {items {id}}}';
    let deep: unknown = 'x';
    for (let depth = 0; depth < 1_500; depth += 1) deep = { a: deep };
    for (const filter of [deep, [], 'x', { userIdd: { eq: 'x' } }, { userId: { equal: 'x' } }]) {
      refused(await post({ query, variables: { filter } }), /\$filter/);
    }
    for (const variables of ['x', [], 7]) expect((await post({ query, variables })).status).toBe(400);
  });

  it('GraphQL reveals nothing of its schema, neither by introspection nor by suggestions', async () => {
    for (const query of [
      getIntrospectionQuery(),
      '{__schema {types {name}}}',
      '{__type(name: "User") {fields {name}}}',
      '{listUsers {items {id}} __schema {queryType {name}}}',
      '{...F} fragment F on Query {__schema {queryType {name}}}',
    ]) {
      refused(await post({ query }), /introspection has been disabled|token/);
    }
    for (const query of [
      '{listUser {items {id}}}',
      '{listUsers {items {imageNam}}}',
      '{listUsers(limits: 1) {items {id}}}',
    ]) {
      refused(await post({ query }), /^(Cannot query field|Unknown argument)/);
    }
    refused(await post({ query: 'query($f: ModelUserFilter) {listUsers(filter: $f) {items {id}}}' }), /^Unknown type/);
    // Generic libraries add __typename to every selection; it reveals nothing.
    const named = await post({ query: '{__typename listUsers {__typename items {__typename}}}' });
    expect(parsed(named).data).toMatchObject({ __typename: 'Query', listUsers: { items: [{ __typename: 'User' }] } });
  });

  it('GraphQL accepts only POST with JSON', async () => {
    const search = `?${new URLSearchParams({ query: everything })}`;
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']) {
      const answer = await visitor.send(`/graphql${search}`, { method, headers: own });
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'POST']);
    }
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', new URLSearchParams({ query: everything }).toString()],
      ['text/plain', JSON.stringify({ query: everything })],
      ['application/graphql', everything],
      ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="query"\r\n\r\n{a}\r\n--x--'],
    ] as const) {
      const answer = await visitor.send('/graphql', {
        method: 'POST',
        headers: { ...own, 'content-type': type },
        body,
      });
      expect([type, answer.status]).toEqual([type, 415]);
    }
    // The query in the address is ignored.
    const answer = await visitor.send(`/graphql${search}`, {
      method: 'POST',
      headers: { ...own, 'content-type': types.json },
      body: '{}',
    });
    expect(answer.status).toBe(400);
  });

  it('A page of another site gets nothing, and no answer allows other origins to read it', async () => {
    for (const from of [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
    ]) {
      const answer = await post({ query: everything }, from);
      expect(answer.status).toBe(403);
      expect(answer.text).not.toContain(ada?.id);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    expect((await post({ query: everything }, { cookie: '' })).status).toBe(401);
  });

  it('The answer has the requested media type, and a faulty document gets 400 where that type requires it', async () => {
    const good = await post({ query: everything }, { accept: types.graphql });
    expect([good.status, good.headers['content-type']]).toEqual([200, `${types.graphql}; charset=utf-8`]);
    const bad = await post({ query: '{nothing}' }, { accept: types.graphql });
    expect([bad.status, bad.headers['content-type']]).toEqual([400, `${types.graphql}; charset=utf-8`]);
    for (const accept of ['text/html', '*/*', '']) {
      const { status, headers } = await post({ query: everything }, { accept });
      expect([status, headers['content-type']]).toEqual([200, `${types.json}; charset=utf-8`]);
    }
  });

  it('No GraphQL request leaves an error-level line in the log', () => {
    expect(foyer.logged()).not.toContain('"level":50');
  });

  it('GraphQL requests of a user are counted, and those beyond the limit are refused', async () => {
    const counter = `rate:api:graphql:member:${ada?.id}`;
    await foyer.deps.kv.delete(counter);
    await foyer.deps.kv.consumeCount(counter, 60_000, 299);
    expect((await post({ query: '{__typename}' })).status).toBe(200);
    expect((await post({ query: '{__typename}' })).status).toBe(429);
  });
});

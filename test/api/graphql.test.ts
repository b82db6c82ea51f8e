import type { Server } from 'node:http';
import express, { type ErrorRequestHandler, type Request } from 'express';
import { buildClientSchema, GraphQLObjectType, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { z } from 'zod';
import { createEngine } from '../../server/http/graphql-engine.ts';
import {
  type ApiAccess,
  type ApiPrincipal,
  apiCallLimits,
  apiRoutes,
  asHttpError,
  GraphqlError,
  type Guard,
  graphqlOperation,
  setPrincipal,
} from '../../server/http/index.ts';
import { StoreUnavailable } from '../../server/store/index.ts';
import { insertUserRecord } from '../../server/users/index.ts';
import { userRecordSchema } from '../../server/users/user-record-json.ts';
import { listenOnFreePort, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId, toUserId } from '../support/ids.ts';
import { limitsWith } from '../support/limits.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const fields = Object.keys(userRecordSchema.shape);

describe.each(backends)('GraphQL on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('Introspection in development shows the fields of the user record, of notifications, and no other query', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const answer = await browser.postJson('/graphql', { query: getIntrospectionQuery() });
    const { data } = (await answer.json()) as { data: IntrospectionQuery };
    const schema = buildClientSchema(data);
    expect(Object.keys(schema.getQueryType()?.getFields() ?? {})).toEqual(['listUsers', 'listMessages']);
    expect(Object.keys(schema.getMutationType()?.getFields() ?? {})).toEqual(['readMessage', 'readAllMessages']);
    expect(schema.getSubscriptionType() ?? null).toBeNull();
    const user = schema.getType('User');
    expect(user instanceof GraphQLObjectType && Object.keys(user.getFields()).toSorted()).toEqual(
      [...fields, '_version', '_deleted', '_lastChangedAt'].toSorted(),
    );
  });

  it('The field listUsers answers the same record as /user/listUserWithPoolId', async () => {
    const user = await foyer.addUser();
    await foyer.deps.database.transaction((trx) => insertUserRecord(trx, user.id, Date.now()));
    const browser = await foyer.signedIn(user);
    const byGraphql = await browser.postJson('/graphql', { query: `{listUsers {items {${fields.join(' ')}}}}` });
    const byCall = await browser.postJson('/user/listUserWithPoolId', {});
    const { data } = (await byCall.json()) as { data: { Items: object[] } };
    expect(data.Items).toHaveLength(1);
    expect(await byGraphql.json()).toEqual({ data: { listUsers: { items: data.Items } } });
  });

  it('A user without a record gets an empty list, not an error', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const answer = await browser.postJson('/graphql', { query: '{listUsers {items {id} nextToken}}' });
    expect(await answer.json()).toEqual({ data: { listUsers: { items: [], nextToken: null } } });
  });
});

describe('errors of GraphQL', () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    const throwing = (error: () => Error) => async () => {
      throw error();
    };
    const operation = graphqlOperation({
      path: '/graphql',
      id: 'graphql',
      description: 'A schema of the test.',
      summary: '',
      access: { client: 'users:read' },
      fields: Object.fromEntries(
        ['bug', 'away', 'said', 'nothing', 'wrong'].map((name) => [`Query.${name}`, { client: 'users:read' as const }]),
      ),
      schema: 'type Query { bug: Int, away: Int, said: Int, nothing: Int!, wrong: Int }',
      resolvers: {
        bug: throwing(() => new Error('secret of the inside')),
        away: throwing(() => new StoreUnavailable('redis://:secret@10.0.0.1')),
        said: throwing(() => new GraphqlError('write something else')),
        nothing: async () => null,
        wrong: async () => 'secret text',
      },
      introspection: false,
      data: z.unknown(),
    });
    const onError: ErrorRequestHandler = (error, _req, res, _next) => {
      const { status, options } = asHttpError(error);
      res.status(status).json({ cause: String(options.cause) });
    };
    const guard: Guard = () => (req, _res, next) => {
      setPrincipal(req, { kind: 'client', clientId: toClientId('shop'), scopes: ['users:read'] });
      next();
    };
    const limits = apiCallLimits(
      {
        consumeCount: async () => ({ count: 1, expiresInMs: 60_000 }),
        setIfAbsent: async () => true,
      },
      limitsWith({}),
    );
    const settings = { guard, limits, describe: () => ({}) };
    const app = express().use(apiRoutes([operation], settings), onError);
    const listening = await listenOnFreePort(app);
    ({ server } = listening);
    url = `http://localhost:${listening.port}/graphql`;
  });
  afterAll(() => server?.close());

  it.each([
    ['bug', 500, { cause: 'Error: secret of the inside' }],
    ['away', 503, { cause: 'StoreUnavailable: redis://:secret@10.0.0.1' }],
    ['nothing', 500, { cause: expect.stringContaining('non-nullable') }],
    ['wrong', 500, { cause: expect.stringContaining('Int cannot represent') }],
    ['said', 200, { data: { said: null }, errors: [expect.objectContaining({ message: 'write something else' })] }],
  ])(
    'The field %s sends internal errors to the error handler and caller errors to the caller',
    async (field, status, body) => {
      const answer = await sendRequest(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: `{${field}}` }),
      });
      expect([answer.status, await answer.json()]).toEqual([status, body]);
    },
  );
});

describe('access rules of GraphQL fields', () => {
  const reader = { kind: 'client', clientId: toClientId('shop'), scopes: ['users:read'] } as const;
  const schema = 'type Query { open: Int, closed: Closed } type Closed { secret: Int, open: Int }';
  const rules: Record<string, ApiAccess> = {
    'Query.open': { client: 'users:read' },
    'Query.closed': { client: 'users:read' },
    'Closed.open': { client: 'users:read' },
    'Closed.secret': { member: 'account', client: 'users:write' },
  };
  const ask = async (principal: ApiPrincipal, query: string, fields = rules) => {
    const resolvers = { open: async () => 1, closed: async () => ({ secret: 2, open: 3 }) };
    const engine = createEngine({ schema, resolvers, introspection: false, fields });
    const req = { url: '/graphql' } as Request;
    setPrincipal(req, principal);
    return JSON.parse((await engine(req, { query }, 'application/json')).body) as unknown;
  };

  it('A field with a stricter rule than its call is refused to a caller who may make the call', async () => {
    expect(await ask(reader, '{open closed {open}}')).toEqual({ data: { open: 1, closed: { open: 3 } } });
    for (const query of ['{closed {secret}}', '{open closed {open secret}}']) {
      await expect(ask(reader, query)).rejects.toMatchObject({ kind: 'insufficientScope' });
    }
    const member = { kind: 'member', userId: toUserId('1'), by: 'session' } as const;
    await expect(ask(member, '{open}')).rejects.toMatchObject({ kind: 'wrongCaller' });
    await expect(ask({ ...member, by: 'token', scopes: ['account'] }, '{open}')).rejects.toMatchObject({
      kind: 'wrongCaller',
    });
  });

  it('A field without a rule stops the engine before any query', async () => {
    const { 'Closed.secret': _, ...fewer } = rules;
    await expect(ask(reader, '{open}', fewer)).rejects.toThrow('the GraphQL field Closed.secret has no access rule');
  });
});

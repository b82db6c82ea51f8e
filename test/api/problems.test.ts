import type { ApiOperation } from '../../server/http/index.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { callCauses } from './call-causes.ts';
import { service } from './callers.ts';
import { documentedProblems } from './documented-problems.ts';
import { call, countersHere, type Example } from './examples.ts';
import { generalCauses, wrongBodies } from './problem-causes.ts';

interface Described {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content: Record<string, { schema: { $ref?: string } }> }> }>
  >;
  components: { schemas: Record<string, { properties?: { type?: { enum?: string[] } } }> };
}

const prefix = 'urn:foyer:problem:';
const documented = new Map(documentedProblems().map(({ type, status }) => [type, status]));

describe('Problems of the JSON API, of every call and cause', () => {
  let shop: Shop;
  let foyer: TestFoyer;
  let document: Described;
  beforeAll(async () => {
    shop = await startShop(anyBackend);
    foyer = shop.foyer;
    document = (await (await sendRequest(`${foyer.url}/openapi.json`)).json()) as Described;
  });
  afterAll(() => shop?.close());
  beforeEach(() => foyer.deps.kv.delete(...countersHere(foyer.app.operations)));

  /** The types that the document gives to the answers of a call with this status. */
  function describedTypes({ path, method }: ApiOperation, status: number): string[] {
    const { responses } = document.paths[path]?.[method] ?? { responses: {} };
    const name = responses[status]?.content['application/problem+json']?.schema.$ref?.split('/').at(-1) ?? '';
    const types = document.components.schemas[name]?.properties?.type?.enum ?? [];
    return types.map((type) => type.slice(prefix.length));
  }

  /** The faults of an answer: its type is the expected one, in the document's enum, with the status of the table. */
  async function faults(operation: ApiOperation, answer: Response, expected: string): Promise<string[]> {
    const body = (await answer.json()) as { type: string; status: number; title: string; detail: string };
    const type = body.type?.slice(prefix.length);
    const at = `${operation.id} ${answer.status} ${type}`;
    return [
      ...(type === expected ? [] : [`${at}: not ${expected}: ${body.detail}`]),
      ...(documented.get(expected) === answer.status
        ? []
        : [`${at}: docs/json-api.md has ${documented.get(expected)}`]),
      ...(body.status === answer.status ? [] : [`${at}: the body says ${body.status}`]),
      ...(describedTypes(operation, answer.status).includes(expected) ? [] : [`${at}: not in /openapi.json`]),
      ...(body.title && body.detail ? [] : [`${at}: without a text`]),
    ];
  }

  it.each(generalCauses)('Every call $name names this cause', async ({ credentials, expected }) => {
    const caller = await credentials(foyer);
    const found: string[] = [];
    let calls = 0;
    for (const operation of foyer.app.operations) {
      const type = expected(operation);
      if (type === undefined) continue;
      calls += 1;
      const answer = await call(foyer.url, operation, caller, operation.body ? { body: {} } : {});
      found.push(...(await faults(operation, answer, type)));
    }
    expect(found).toEqual([]);
    expect(calls).toBeGreaterThan(0);
  });

  it.each(wrongBodies)('Every call with $name names this cause', async ({ body, contentType, type }) => {
    const found: string[] = [];
    for (const operation of foyer.app.operations.filter((one) => one.body !== undefined)) {
      const answer = await sendRequest(foyer.url + operation.path, {
        method: operation.method.toUpperCase(),
        headers: { 'content-type': contentType },
        body,
      });
      found.push(...(await faults(operation, answer, type)));
    }
    expect(found).toEqual([]);
  });

  it('Every public call with the address of a visitor that is none, or by a service without the scope, names the cause', async () => {
    const { token } = await service(foyer, ['visitors:act-for']);
    const { token: other } = await service(foyer, ['users:read']);
    const found: string[] = [];
    for (const operation of foyer.app.operations.filter(({ access }) => access === 'public')) {
      const ask = (bearer: string) => {
        const headers = { authorization: `Bearer ${bearer}`, 'foyer-visitor-address': 'nowhere' };
        return call(foyer.url, operation, { headers }, operation.body ? { body: {} } : {});
      };
      found.push(...(await faults(operation, await ask(token), 'validation')));
      found.push(...(await faults(operation, await ask(other), 'insufficientScope')));
    }
    expect(found).toEqual([]);
  });

  it.each(callCauses)('$call names the cause $type', async ({ call: id, type, make }) => {
    const operation = foyer.app.operations.find((one) => one.id === id);
    if (!operation) throw new Error(`no call ${id}`);
    const { headers, input } = await make(foyer);
    const example: Example = input;
    const answer = await call(foyer.url, operation, headers ? { headers } : {}, example);
    expect(await faults(operation, answer, type)).toEqual([]);
  });

  it('The members of a problem say what the caller needs: scope, age, stored values, time', async () => {
    const body = async (answer: Response) => (await answer.json()) as Record<string, unknown>;
    const { token } = await service(foyer, ['plans:read']);
    const headers = { authorization: `Bearer ${token}` };
    expect(await body(await sendRequest(`${foyer.url}/clients`, { headers }))).toMatchObject({ scope: 'clients:read' });
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const answer = await browser.postJson('/user/signup/plan', { source: 'appsumo', username: user.email });
    expect(await body(answer)).toMatchObject({
      errors: [{ name: 'body.source', detail: 'is general', stored: 'general' }],
    });
    foyer.passTime(11 * 60_000);
    expect(await body(await browser.postJson('/identity/setupTOTP', {}))).toMatchObject({ max_age: 600 });
    let refused: Response | undefined;
    for (let times = 0; times < 61 && refused?.status !== 429; times += 1)
      refused = await sendRequest(`${foyer.url}/verifyClient?client_id=a&logout_uri=b`);
    const { retryAfter } = await body(refused as Response);
    expect(String(retryAfter)).toBe(refused?.headers.get('retry-after'));
  });

  it('A status that a call describes has a type of that status, and each type of a call has its status described', () => {
    const found = foyer.app.operations.flatMap((operation) => {
      const types = describedTypes(operation, 400);
      const statuses = new Set(types.map((type) => documented.get(type)));
      const described = Object.keys(document.paths[operation.path]?.[operation.method]?.responses ?? {})
        .map(Number)
        .filter((status) => status >= 400);
      return [
        ...described
          .filter((status) => !statuses.has(status))
          .map((status) => `${operation.id}: no type for ${status}`),
        ...[...statuses]
          .filter((one) => !described.includes(one ?? 0))
          .map((one) => `${operation.id}: no answer ${one}`),
      ];
    });
    expect(found).toEqual([]);
  });
});

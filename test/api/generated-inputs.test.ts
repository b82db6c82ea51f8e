import type { ApiOperation } from '../../server/http/index.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { mutateJson } from '../fuzz/mutate.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import { sampleOf } from '../fuzz/schema-samples.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { createAnswerCheck, type OpenApi } from './answers.ts';
import { type Credentials, ownPage } from './callers.ts';
import { call } from './examples.ts';

/** More, or other, inputs: GENERATED_INPUTS=100 GENERATED_SEED=7. */
const seed = Number(process.env.GENERATED_SEED ?? 20_261_128);
const samples = Number(process.env.GENERATED_INPUTS ?? 12);

type Node = Record<string, unknown>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** The schemas of the document, with the named ones in their places. */
function createResolver(document: Node) {
  const at = (pointer: string) =>
    pointer
      .split('/')
      .slice(1)
      .reduce<unknown>(
        (node, part) => (isNode(node) ? node[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
        document,
      );
  const resolve = (node: unknown, depth = 0): unknown => {
    if (Array.isArray(node)) return node.map((item) => resolve(item, depth));
    if (!isNode(node) || depth > 6) return isNode(node) ? {} : node;
    if (typeof node.$ref === 'string') return resolve(at(node.$ref), depth + 1);
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, resolve(value, depth)]));
  };
  return resolve;
}

const mutated = (random: Random, value: unknown) => (random.oneIn(3) ? value : mutateJson(random, value));

/** Values for the parameters and the body of a call: near its schemas, and not always in them. */
function inputFor(random: Random, operation: Node, path: string) {
  const parameters = (Array.isArray(operation.parameters) ? operation.parameters : []).filter(isNode);
  const textFor = ({ schema }: Node) => {
    const value = mutated(random, sampleOf(random, schema));
    return String(isNode(value) ? JSON.stringify(value) : value).slice(0, 300);
  };
  const filled = parameters
    .filter((one) => one.in === 'path')
    // A path without a value is another path.
    .reduce((text, one) => text.replace(`{${one.name}}`, encodeURIComponent(textFor(one).toWellFormed()) || 'x'), path);
  const query = Object.fromEntries(
    parameters.filter((one) => one.in === 'query' && random.oneIn(2)).map((one) => [String(one.name), textFor(one)]),
  );
  const content =
    isNode(operation.requestBody) && isNode(operation.requestBody.content) ? operation.requestBody.content : {};
  const media = content['application/json'];
  const body = isNode(media) ? mutated(random, sampleOf(random, media.schema)) : undefined;
  return { path: filled.replace(/\/(%2E|\.){1,2}(?=\/|$)/gi, '/x'), query, ...(isNode(body) && { body }) };
}

describe('generated input of the JSON API', () => {
  let shop: Shop;
  let operations: readonly ApiOperation[];
  let document: OpenApi & Node;
  beforeAll(async () => {
    const high = { API_LIMIT_CALLER: '999999', API_LIMIT_ADDRESS: '999999', API_LIMIT_VISITORS: '999999' };
    shop = await startShop(anyBackend, high);
    operations = shop.foyer.app.operations;
    document = (await (await sendRequest(`${shop.foyer.url}/openapi.json`)).json()) as OpenApi & Node;
  });
  afterAll(() => shop?.close());

  async function faultsOf(credentials: () => Promise<Credentials>, chosen: readonly ApiOperation[]) {
    const { foyer } = shop;
    const [random, resolve, check] = [createRandom(seed), createResolver(document), createAnswerCheck(document)];
    const statuses = new Map<number, number>();
    const faults: object[] = [];
    for (const operation of chosen) {
      const described = resolve(document.paths[operation.path]?.[operation.method]);
      if (!isNode(described)) throw new Error(`${operation.path} is not described`);
      const given = await credentials();
      for (let n = 0; n < samples; n += 1) {
        const input = inputFor(random, described, operation.path);
        const answer = await call(foyer.url, operation, given, input);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        const wrong = [
          ...(answer.status >= 500 ? [`answered ${answer.status}`] : []),
          ...(await check(operation, answer).catch((error: unknown) => [String(error)])),
        ];
        if (wrong.length > 0) faults.push({ call: operation.id, input, wrong });
      }
    }
    return { faults, statuses };
  }

  it('Every answer to a member has a documented status, type and schema, and none is a fault of the server', async () => {
    const { foyer } = shop;
    const credentials = async () => {
      const user = await foyer.addUser();
      return { browser: await foyer.signedIn(user), headers: ownPage(foyer) };
    };
    const { faults, statuses } = await faultsOf(credentials, operations);
    expect([`seed ${seed}`, faults]).toEqual([`seed ${seed}`, []]);
    // If all were refused at once, nothing would be tested.
    expect(statuses.get(200) ?? 0).toBeGreaterThan(operations.length / 2);
  }, 120_000);

  it('Every guarded call is 401 without credentials, whatever is sent', async () => {
    const guarded = operations.filter(({ access }) => access !== 'public');
    expect(guarded.length).toBeGreaterThan(25);
    const { faults, statuses } = await faultsOf(async () => ({}), guarded);
    // A body that is too large is not read, with or without credentials.
    const answered = [...statuses.keys()].filter((status) => status !== 413);
    expect([`seed ${seed}`, faults, answered]).toEqual([`seed ${seed}`, [], [401]]);
  }, 120_000);
});

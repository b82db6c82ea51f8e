import { Ajv2020 } from 'ajv/dist/2020.js';
import { anyBackend } from '../support/stores.ts';
import { documentFaults } from './openapi-walk.ts';
import { type StartedApi, startApi } from './started-api.ts';

type Body = { content?: Record<string, { schema: object; example?: unknown }> };

describe('the models of /openapi.json', () => {
  let api: StartedApi;
  beforeAll(async () => {
    api = await startApi(anyBackend);
  });
  afterAll(() => api?.close());

  it('No schema has a form that generators of typed clients cannot read, and everything is described', () => {
    expect(documentFaults(api.document)).toEqual([]);
  });

  it.each([
    ['a property that is only null', { type: 'null', description: 'x' }],
    ['a boolean constant', { type: 'boolean', const: true, description: 'x' }],
    ['an integer without format', { type: 'integer', description: 'x' }],
    ['a union of a text and a list', { anyOf: [{ type: 'string' }, { type: 'array' }], description: 'x' }],
    ['a model without a name', { type: 'object', properties: {}, description: 'x' }],
    ['a property without description', { type: 'string' }],
  ])('The walk finds %s', (_name, property) => {
    const document = { paths: {}, components: { schemas: { Faulty: { type: 'object', properties: { property } } } } };
    expect(documentFaults(document)).not.toEqual([]);
  });

  it('The walk finds an answer that refuses new members, and a call without summary, tag and example', () => {
    const schema = { $ref: '#/components/schemas/Closed' };
    const responses = { 200: { content: { 'application/json': { schema } } } };
    const document = {
      paths: { '/x': { get: { operationId: 'x', responses } } },
      components: { schemas: { Closed: { type: 'object', properties: {}, additionalProperties: false } } },
    };
    const faults = documentFaults(document).join('\n');
    for (const fault of ['refuses new members', 'no summary', 'not one tag', 'no example', 'no verb and noun']) {
      expect(faults).toContain(fault);
    }
  });

  it('Every call has examples of its body and its answer, which their schemas accept', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    ajv.addSchema(api.document, 'openapi');
    const wrong: string[] = [];
    for (const [path, methods] of Object.entries(api.document.paths)) {
      for (const operation of Object.values(methods)) {
        const { responses, requestBody } = operation as { responses: Record<string, Body>; requestBody?: Body };
        for (const { content = {} } of [requestBody ?? {}, responses['200'] ?? {}]) {
          for (const { schema, example } of Object.values(content)) {
            const fits = ajv.validate(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')), example);
            if (!fits) wrong.push(`${path}: ${ajv.errorsText(ajv.errors)}`);
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('Every call accepts the example of its body', () => {
    const wrong = api.foyer.app.operations.flatMap(({ path, method, body }) => {
      const { requestBody } = Object(api.document.paths[path]?.[method]) as { requestBody?: Body };
      const result = body?.safeParse(requestBody?.content?.['application/json']?.example);
      return result === undefined || result.success ? [] : [`${path}: ${result.error.message}`];
    });
    expect(wrong).toEqual([]);
  });

  it('The entities of the specification have names', () => {
    const { schemas } = Object(api.document.components) as { schemas: object };
    const names =
      'User Plan Order Customer Subscription Card UserAttributes CodeSent Success Problem Notification ClientApp UserInfo';
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(names.split(' ')));
  });

  it('An operation has a verb and a noun as its id, and its older id as an alias', () => {
    const operations = Object.values(api.document.paths).flatMap((methods) => Object.values(methods));
    const ids = operations.map((operation) => String(Object(operation).operationId));
    expect(new Set(ids).size).toBe(ids.length);
    const named = operations.flatMap((operation) => [
      Object(operation).operationId,
      ...(Object(operation)['x-aliases'] ?? []),
    ]);
    expect(api.foyer.app.operations.map(({ id }) => id).filter((id) => !named.includes(id))).toEqual([]);
  });

  it('Every origin may read /openapi.json, which is compressed and answers 304 for a known version', async () => {
    const origin = { origin: 'https://viewer.example', 'sec-fetch-site': 'cross-site' };
    const answer = await api.ask('/openapi.json', { headers: { ...origin, 'accept-encoding': 'gzip' } });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.headers.get('vary')).toContain('Accept-Encoding');
    expect(await answer.json()).toEqual(api.document);
    const etag = answer.headers.get('etag') ?? '';
    const again = await api.ask('/openapi.json', { headers: { 'if-none-match': etag, 'accept-encoding': 'gzip' } });
    expect(again.status).toBe(304);
    const plain = await api.ask('/openapi.json', { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.headers.get('etag')).not.toBe(etag);
  });
});

import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ApiOperation } from '../../server/http/index.ts';

/** The parts of the document that tests walk. */
export interface OpenApi {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content: Record<string, object>; headers?: object }> }>
  >;
  components: object;
}

const pointer = (...parts: string[]) =>
  parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The document lets answers have new members; here a member that it does not name is a fault. */
function closeObjects(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closeObjects);
  if (!isObject(node)) return node;
  const closed = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closeObjects(value)]));
  const isOpen = isObject(node.properties) && node.type !== undefined && node.additionalProperties === undefined;
  return isOpen ? { ...closed, additionalProperties: false } : closed;
}

/** Says what of a real answer is not as the document describes it: status, content type, headers, body. */
export function createAnswerCheck(document: OpenApi) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(Object(closeObjects(document)), 'openapi');
  return async (operation: Pick<ApiOperation, 'method' | 'path'>, answer: Response): Promise<string[]> => {
    const described = document.paths[operation.path]?.[operation.method]?.responses;
    if (!described) return ['the call is not described'];
    const status = described[answer.status] ? String(answer.status) : 'default';
    const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
    if (!described[status]?.content[type]) return [`${answer.status} is not described as ${type}`];
    const at = pointer('paths', operation.path, operation.method, 'responses', status, 'content', type, 'schema');
    const validate = ajv.getSchema(`openapi#${encodeURI(at)}`);
    if (!validate) throw new Error(`no schema at ${at}`);
    const body: unknown = await answer.clone().json();
    const fits = validate(body);
    const missing = status === '200' || status === '429' ? Object.keys(described[status]?.headers ?? {}) : [];
    return [
      ...(fits ? [] : [ajv.errorsText(validate.errors)]),
      ...missing.filter((name) => !answer.headers.has(name)).map((name) => `the header ${name} is missing`),
    ];
  };
}

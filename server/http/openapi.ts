import type { z } from 'zod';
import type {
  ApiDocument,
  DocumentedCall,
  DocumentedContent,
  DocumentedParameter,
} from '../../views/api-reference/document.ts';
import { acceptsNoFields } from './api-fields.ts';
import { apiName, apiReferencePath, apiTags } from './api-names.ts';
import type { ApiOperation } from './api-operation.ts';
import { listCallProblems } from './call-problems.ts';
import { callProblemSchema, problemSchema } from './openapi-problems.ts';
import { describeProtocolCall, type ProtocolCall } from './openapi-protocol.ts';
import { SchemaRegistry } from './openapi-schemas.ts';
import { describeAccess, type SecuritySettings, securitySchemes, toSecurity } from './openapi-security.ts';
import type { JsonSchema } from './schema-doc.ts';
import { visitorAddressHeader } from './visitor-address.ts';

interface OpenApiSettings extends SecuritySettings {
  title: string;
  publicUrl: string;
  /** The support address of the operator. */
  contactEmail: string | undefined;
  /** Calls of other modules that are no operations. */
  protocolCalls: readonly ProtocolCall[];
}

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example }) as const;

/** IETF draft-ietf-httpapi-ratelimit-headers-08, and RFC 9110. */
const headers = {
  RateLimit: text('How many calls are left, and for how many seconds', '"call";r=299;t=60'),
  'RateLimit-Policy': text('How many calls there may be in how many seconds', '"call";q=300;w=60'),
  'Retry-After': {
    description: 'Seconds until the next call may be made',
    schema: { type: 'integer', format: 'int64' },
    example: 5,
  },
  'WWW-Authenticate': text(
    'What the caller lacks (RFC 6750, section 3; RFC 9449, section 7.1; RFC 9470, section 3)',
    'Bearer realm="Foyer", error="insufficient_scope", scope="account"',
  ),
} as const;

const withHeaders = (...names: (keyof typeof headers)[]) =>
  names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };

/** Makes the descriptions of refusals whose body has this schema. */
const refusalBy =
  (schema: JsonSchema) =>
  (description: string, ...names: (keyof typeof headers)[]) => ({
    description,
    ...withHeaders(...names),
    content: { 'application/problem+json': { schema } },
  });

const toPascalCase = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Content of a body, with an example, in each of these media types. */
function toContent(
  schemas: SchemaRegistry,
  { schema, types = ['application/json'] }: { schema: JsonSchema; types?: readonly string[] | undefined },
): DocumentedContent {
  const example = schemas.example(schema);
  return Object.fromEntries(types.map((type) => [type, { schema, ...(example !== undefined && { example }) }]));
}

function toParameters(
  schemas: SchemaRegistry,
  schema: z.ZodObject | undefined,
  where: 'path' | 'query',
): DocumentedParameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemas.convert(schema, 'input') as JsonSchema & { required?: string[] };
  return Object.entries(properties).map(([name, { description, examples, ...property }]) => ({
    name,
    in: where,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: property,
    ...(examples && { example: examples[0] }),
  }));
}

/** Header of public calls, for client apps with the scope `visitors:act-for`. */
const visitorAddress = {
  name: visitorAddressHeader,
  in: 'header',
  required: false,
  description: 'The address of the visitor for whom a client app with the scope visitors:act-for calls',
  schema: { type: 'string', maxLength: 45 },
  example: '192.0.2.7',
} as const;

function toResponses(schemas: SchemaRegistry, operation: ApiOperation, name: string): DocumentedCall['responses'] {
  const { access, body, answer, problems = {}, alsoAs = [] } = operation;
  const guarded = access !== 'public';
  const schema = schemas.convertNamed(answer, 'output', `${name}Answer`);
  const refusal = refusalBy(
    schemas.convert(callProblemSchema(listCallProblems(operation), `${name}Problem`), 'output'),
  );
  const misfit = refusal('What was sent does not fit');
  return {
    200: {
      description: 'Done',
      ...withHeaders('RateLimit', 'RateLimit-Policy'),
      content: toContent(schemas, { schema, types: ['application/json', ...alsoAs] }),
    },
    400: { ...misfit, content: { ...misfit.content, ...toContent(schemas, { schema, types: alsoAs }) } },
    401: refusal(
      guarded ? 'No valid credentials' : `With ${visitorAddressHeader}: no valid credentials`,
      'WWW-Authenticate',
    ),
    403: refusal(
      guarded
        ? 'These credentials do not open it, or the member must do something first'
        : `With ${visitorAddressHeader}: these credentials do not open it. Or the account is disabled`,
      'WWW-Authenticate',
    ),
    ...(body && { 413: refusal('The body is too large'), 415: refusal('The body is not JSON') }),
    429: refusal('Too many calls', 'RateLimit', 'RateLimit-Policy', 'Retry-After'),
    503: refusal('A store is away', 'Retry-After'),
    ...Object.fromEntries(Object.entries(problems).map(([status, description]) => [status, refusal(description)])),
    default: refusalBy({ $ref: '#/components/schemas/Problem' })('Anything else'),
  };
}

function describe(schemas: SchemaRegistry, operation: ApiOperation): DocumentedCall {
  const { id, access, params, query, body, summary, description, alsoAt } = operation;
  const { tag, operationId, alias } = apiName(id);
  const name = toPascalCase(operationId);
  const parameters = [
    ...toParameters(schemas, params, 'path'),
    ...toParameters(schemas, query, 'query'),
    ...(access === 'public' ? [visitorAddress] : []),
  ];
  const texts = [
    ...(description === undefined ? [] : [description]),
    describeAccess(access),
    ...(alsoAt === undefined ? [] : [`Also at \`${alsoAt}\`.`]),
  ];
  return {
    operationId,
    ...(alias !== undefined && { 'x-aliases': [alias] }),
    tags: [tag],
    summary,
    description: texts.join('\n\n'),
    security: toSecurity(access),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !acceptsNoFields(body),
        content: toContent(schemas, { schema: schemas.convertNamed(body, 'input', `${name}Request`) }),
      },
    }),
    responses: toResponses(schemas, operation, name),
  };
}

/** The OpenAPI 3.1 document of these calls. */
export function openApiDocument(operations: readonly ApiOperation[], settings: OpenApiSettings): ApiDocument {
  const { title, publicUrl, contactEmail, protocolCalls } = settings;
  const schemas = new SchemaRegistry();
  schemas.convert(problemSchema, 'output');
  const paths: Record<string, Record<string, DocumentedCall>> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(schemas, operation) };
  }
  for (const call of protocolCalls) paths[call.path] = { [call.method]: describeProtocolCall(schemas, call) };
  const document = {
    openapi: '3.1.0',
    info: {
      title,
      version: '1',
      description:
        'The calls of client apps and scripts besides OpenID Connect. Times are milliseconds since the epoch unless the field says otherwise. Amounts are decimal texts. Errors are problem details (RFC 9457). New members of answers may come at any time.',
      license: { name: 'All rights reserved', identifier: 'LicenseRef-Proprietary' },
      contact: { name: title, url: publicUrl, ...(contactEmail !== undefined && { email: contactEmail }) },
    },
    externalDocs: { description: 'The same as a page', url: publicUrl + apiReferencePath },
    servers: [{ url: publicUrl }],
    tags: Object.entries(apiTags).map(([name, description]) => ({ name, description })),
    paths,
    components: { headers, schemas: schemas.list(), securitySchemes: securitySchemes(settings) },
  };
  return document;
}

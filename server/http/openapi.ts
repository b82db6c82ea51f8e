import { z } from 'zod';
import { apiScopes, type MemberApiScope } from './access.ts';
import type { ApiOperation } from './api-operation.ts';
import { problemKinds, problemType } from './errors.ts';
import { visitorAddressHeader } from './visitor-address.ts';

interface OpenApiSettings {
  title: string;
  publicUrl: string;
  /** Name of the session cookie. */
  sessionCookie: string;
  authorizationUrl: string;
  tokenUrl: string;
  /** URL of the discovery document. */
  openIdConnectUrl: string;
}

const problem = {
  type: 'object',
  description: 'RFC 9457',
  required: ['type', 'title', 'status', 'detail', 'instance'],
  properties: {
    type: { type: 'string', enum: problemKinds.map(problemType), description: 'Which kind of problem it is' },
    title: { type: 'string', description: "In the caller's language" },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'Names the log line: urn:foyer:reference:…' },
    errors: {
      type: 'array',
      description: 'What does not fit',
      items: {
        type: 'object',
        required: ['name', 'detail'],
        properties: { name: { type: 'string' }, detail: { type: 'string' } },
        additionalProperties: false,
      },
    },
    errMessage: { type: 'string', description: 'The card provider’s own message' },
    client_secret: { type: 'string', description: 'The bank wants to hear from the member: hand it to Stripe.js' },
  },
  additionalProperties: false,
} as const;

const text = (description: string) => ({ description, schema: { type: 'string' } }) as const;

/** IETF draft-ietf-httpapi-ratelimit-headers-08, and RFC 9110. */
const headers = {
  RateLimit: text('How many calls are left, and for how many seconds'),
  'RateLimit-Policy': text('How many calls there may be in how many seconds'),
  'Retry-After': { description: 'Seconds until the next call may be made', schema: { type: 'integer' } },
  'WWW-Authenticate': text('What the caller lacks (RFC 6750, section 3; RFC 9449, section 7.1; RFC 9470, section 3)'),
} as const;

const withHeaders = (...names: (keyof typeof headers)[]) =>
  names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };

const refusal = (description: string, ...names: (keyof typeof headers)[]) => ({
  description,
  ...withHeaders(...names),
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

/** One schema in each of these media types. */
const toContent = (schema: object, types: readonly string[]) =>
  Object.fromEntries(types.map((type) => [type, { schema }]));

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io });
  return rest;
}

/** A token with any one of these scopes, sent by either method. */
const byToken = (...scopes: string[]) =>
  scopes.flatMap((scope) => [{ oauth: [scope] }, { openId: [scope] }, { dpop: [scope] }]);

/** Alias of the scope that client apps from Cognito use. */
const aliases: Partial<Record<MemberApiScope, string>> = { account: 'aws.cognito.signin.user.admin' };

/** Any one of them is enough. */
function toSecurity(access: ApiOperation['access']): object[] {
  if (access === 'public') return [];
  const { member, client } = access;
  return [
    ...(member === undefined ? [] : [{ session: [] }, ...byToken(member, ...[aliases[member] ?? []].flat())]),
    ...(client === undefined ? [] : [{ oauth: [client] }, { dpop: [client] }]),
  ];
}

/** The other demands of a rule besides the scope, in words. */
function toRules(access: ApiOperation['access']): string | undefined {
  if (access === 'public' || access.recent === undefined) return undefined;
  const owner = access.recent === true ? 'A member' : 'A member with a second factor';
  return `${owner} must have authenticated within ten minutes, with the second factor if there is one; otherwise 401 with \`max_age\`, and with \`acr_values\` where the second factor is missing (RFC 9470)`;
}

function toParameters(schema: z.ZodObject | undefined, where: 'path' | 'query'): object[] {
  const { properties = {}, required = [] } = (schema ? jsonSchema(schema, 'input') : {}) as {
    properties?: Record<string, object>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: property,
  }));
}

/** Header of public calls, for client apps with the scope `visitors:act-for`. */
const visitorAddress = {
  name: visitorAddressHeader,
  in: 'header',
  required: false,
  description: 'The address of the visitor for whom a client app with the scope visitors:act-for calls',
  schema: { type: 'string', maxLength: 45 },
};

function describe(operation: ApiOperation): object {
  const { access, params, query, body, answer, problems = {}, alsoAs = [] } = operation;
  const guarded = access !== 'public';
  const parameters = [
    ...toParameters(params, 'path'),
    ...toParameters(query, 'query'),
    ...(guarded ? [] : [visitorAddress]),
  ];
  const answered = jsonSchema(answer, 'output');
  const misfit = refusal('What was sent does not fit');
  const statuses: Record<string, object> = {
    200: {
      description: 'Done',
      ...withHeaders('RateLimit', 'RateLimit-Policy'),
      content: toContent(answered, ['application/json', ...alsoAs]),
    },
    400: { ...misfit, content: { ...misfit.content, ...toContent(answered, alsoAs) } },
    ...(guarded && {
      401: refusal('No valid credentials', 'WWW-Authenticate'),
      403: refusal('These credentials do not open it, or the member must accept new terms first', 'WWW-Authenticate'),
    }),
    ...(body && { 413: refusal('The body is too large'), 415: refusal('The body is not JSON') }),
    429: refusal('Too many calls', 'RateLimit', 'RateLimit-Policy', 'Retry-After'),
    503: refusal('A store is away', 'Retry-After'),
    ...Object.fromEntries(Object.entries(problems).map(([status, description]) => [status, refusal(description)])),
    default: refusal('Anything else'),
  };
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(toRules(access) !== undefined && { description: toRules(access) }),
    security: toSecurity(access),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(body, 'input') } } },
    }),
    responses: statuses,
  };
}

const scopeTexts: Record<(typeof apiScopes)[number], string> = {
  'clients:read': 'Read the list of client apps',
  'users:read': 'Read members',
  'users:write': 'Change members',
  'messages:send': 'Send messages to members',
  'plans:read': 'Read plans',
  'payments:write': 'Save members’ cards and buy plans with them',
  'visitors:act-for': 'Name the address of the visitor for whom it makes a public call',
};

const memberScopeTexts: Record<MemberApiScope, string> = {
  account: 'Read the member’s record and change their profile',
  'account:security':
    'Change the member’s email address, phone number, password and second factor: for confidential web clients of the marketplace alone',
  'account:payments':
    'Buy and change plans with the member’s saved card: for confidential web clients of the marketplace alone',
};

function securitySchemes({ sessionCookie, authorizationUrl, tokenUrl, openIdConnectUrl }: OpenApiSettings): object {
  const alias = Object.entries(aliases).map(([scope, name]) => [name, `Another name for ${scope}`]);
  return {
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie,
      description: "The member's own browser, on this site's pages alone",
    },
    oauth: {
      type: 'oauth2',
      description: 'An access token in the Authorization header; with one, cookies are not looked at',
      flows: {
        authorizationCode: {
          authorizationUrl,
          tokenUrl,
          scopes: { ...memberScopeTexts, ...Object.fromEntries(alias) },
        },
        clientCredentials: {
          tokenUrl,
          scopes: Object.fromEntries(apiScopes.map((scope) => [scope, scopeTexts[scope]])),
        },
      },
    },
    openId: {
      type: 'openIdConnect',
      openIdConnectUrl,
      description: 'The same access tokens, with the metadata of the issuer',
    },
    dpop: {
      type: 'http',
      scheme: 'DPoP',
      description: 'An access token that is bound to a key, with a proof in the header DPoP (RFC 9449)',
    },
  };
}

/** The OpenAPI 3.1 document of these calls. */
export function openApiDocument(operations: readonly ApiOperation[], settings: OpenApiSettings): object {
  const { title, publicUrl } = settings;
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '1' },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      headers,
      schemas: { Problem: problem },
      securitySchemes: securitySchemes(settings),
    },
  };
}

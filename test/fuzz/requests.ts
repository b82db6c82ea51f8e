import {
  encodeFields,
  type Field,
  headerText,
  mutateBytes,
  mutateFields,
  mutateJson,
  mutateJwt,
  mutateText,
  mutateXml,
  oddJson,
} from './mutate.ts';
import type { Random } from './random.ts';
import type { FuzzScene } from './scene.ts';
import { sampleOf } from './schema-samples.ts';

/** A request as it goes over the wire. */
export interface FuzzRequest {
  method: string;
  /** Path and query: ASCII without spaces and controls. */
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

type Generate = (random: Random, scene: FuzzScene) => FuzzRequest;

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const methods = ['GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'];

/** As a form of Foyer's own page is sent. */
const ownPage = (scene: FuzzScene): Record<string, string> => ({
  host: scene.host,
  origin: scene.url,
  'sec-fetch-site': 'same-origin',
  accept: 'text/html',
});

const addressText = (text: string) =>
  encodeURI(text.toWellFormed())
    .replaceAll(/[^\u0021-\u007e]/g, '')
    .slice(0, 9_000);

const query = (random: Random, fields: readonly Field[]) => {
  const text = encodeFields(random, mutateFields(random, fields));
  return text === '' ? '' : addressText(`?${text}`).replaceAll('%25', '%');
};

/** Any route by any method, with whatever query or body. */
const anyRoute: Generate = (random, scene) => {
  const route = random.pick(scene.routes);
  const path = route.path.replaceAll(/\bx\b/g, () =>
    encodeURIComponent(mutateText(random, random.pick(scene.ids)).toWellFormed()),
  );
  const method = random.oneIn(3) && route.methods.length > 0 ? random.pick(route.methods) : random.pick(methods);
  const fields = mutateFields(random, [
    ['redirect', '/settings'],
    ['state', 'a'],
    ['authorization_code', random.pick(scene.ids)],
    ['notice', 'a'],
  ]);
  const actor = random.pick(scene.actors);
  const headers = { ...ownPage(scene), ...(random.oneIn(2) && { cookie: actor.cookie }) };
  if (method === 'GET' || method === 'HEAD')
    return { method, path: addressText(path) + query(random, fields), headers };
  const type = random.pick([
    form,
    json,
    'text/plain',
    'multipart/form-data; boundary=a',
    `${form}; charset=utf-16`,
    'application/xml',
  ]);
  return {
    method,
    path: addressText(path),
    headers: { ...headers, 'content-type': type },
    body: encodeFields(random, fields),
  };
};

/** A form that a page showed to this browser, with changed fields. */
const shownForm: Generate = (random, scene) => {
  const actor = random.pick(scene.actors.filter(({ forms }) => forms.length > 0));
  const { action, method, fields } = random.pick(actor.forms);
  const { pathname, search } = new URL(action);
  const body = encodeFields(random, mutateFields(random, fields));
  const headers = { ...ownPage(scene), cookie: actor.cookie };
  if (method === 'GET') return { method, path: addressText(`${pathname}?${body}`), headers };
  return { method, path: addressText(pathname + search), headers: { ...headers, 'content-type': form }, body };
};

/** An operation of the OpenAPI document, with a body and parameters of the right or a wrong shape. */
const operation: Generate = (random, scene) => {
  const { method, path, parameters, schema } = random.pick(scene.operations);
  const value = (name: string) => (random.oneIn(2) ? random.pick(scene.ids) : mutateText(random, name));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name).toWellFormed()));
  const caller: Record<string, string>[] = [
    ...scene.apps.authorizations.map((authorization) => ({ authorization })),
    { cookie: random.pick(scene.actors).cookie },
    {},
  ];
  const headers: Record<string, string> = { ...ownPage(scene), accept: json, ...random.pick(caller) };
  const names = parameters.map((name): Field => [name, value(name)]);
  const address = addressText(filled) + (names.length > 0 ? query(random, names) : '');
  if (schema === undefined) return { method, path: address, headers };
  const sample = sampleOf(random, schema);
  const text = JSON.stringify(random.oneIn(4) ? sample : mutateJson(random, sample)) ?? 'null';
  const body = random.oneIn(20) ? mutateBytes(random, Buffer.from(text)) : text;
  return { method, path: address, headers: { ...headers, 'content-type': json }, body };
};

const headerNames = [
  ...['accept', 'accept-language', 'accept-encoding', 'authorization', 'content-type', 'cookie', 'origin', 'referer'],
  ...[
    'sec-fetch-site',
    'sec-fetch-mode',
    'sec-fetch-dest',
    'sec-purpose',
    'user-agent',
    'if-none-match',
    'range',
    'dpop',
  ],
  ...[
    'if-modified-since',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'forwarded',
    'x-http-method-override',
  ],
  ...[
    'content-encoding',
    'content-language',
    'expect',
    'te',
    'prefer',
    'stripe-signature',
    'host',
    'x-request-id',
    'traceparent',
  ],
];
const headerValues = [
  ...[
    '*/*',
    'application/json',
    'text/html;q=0.1,*;q=x',
    'de,fr;q=0.9,en;q=NaN',
    'gzip, br;q=0',
    'Bearer x',
    'Basic eDp5',
    'Basic !!',
  ],
  ...[
    'https://evil.example',
    'null',
    'cross-site',
    'none',
    'prefetch',
    'bytes=0-1,5-2,-9',
    '"x"',
    'W/"',
    'Thu, 01 Jan 1970',
    '127.0.0.1',
  ],
  ...['::ffff:1.2.3.4, x', 'evil.example', 'localhost:1', 'for=[::1];proto=x', '100-continue', 'x-unknown', 't=1,v1=a'],
];

/** A page with odd headers. */
const headers: Generate = (random, scene) => {
  const actor = random.pick(scene.actors);
  const path = random.pick([...actor.links, ...scene.routes.map((route) => route.path)]);
  const odd: Record<string, string> = { host: scene.host, ...(random.oneIn(2) && { cookie: actor.cookie }) };
  for (let n = 1 + random.below(4); n > 0; n -= 1) {
    odd[random.pick(headerNames)] = headerText(
      random.oneIn(2) ? random.pick(headerValues) : mutateText(random, random.pick(headerValues)),
    );
  }
  // An expectation is a matter of Node's own server, and its client waits for the answer.
  delete odd.expect;
  if (odd.host === '') odd.host = scene.host;
  return { method: random.pick(['GET', 'GET', 'HEAD', 'POST']), path: addressText(path), headers: odd };
};

/** The cookies of a browser, changed, mixed with another's, cut or doubled. */
const cookies: Generate = (random, scene) => {
  const actor = random.pick(scene.actors);
  const both = [...actor.cookie.split('; '), ...random.pick(scene.actors).cookie.split('; ')];
  const changed = both.map((cookie) => {
    const [name = '', ...value] = cookie.split('=');
    return random.oneIn(3) ? `${name}=${mutateText(random, value.join('='))}` : cookie;
  });
  const { path, ...request } = random.oneIn(3) ? shownForm(random, scene) : anyRoute(random, scene);
  const target = random.oneIn(2) && actor.links.length > 0 ? addressText(random.pick(actor.links)) : path;
  return { ...request, path: target, headers: { ...request.headers, cookie: headerText(changed.join('; ')) } };
};

/** JSON that no parser expects, to everything that reads JSON. */
const rawJson: Generate = (random, scene) => {
  const path = random.oneIn(2)
    ? random.pick(scene.operations).path.replaceAll(/\{\w+\}/g, 'x')
    : random.pick(['/storage', '/graphql', '/sign-in']);
  const text = JSON.stringify(oddJson(random)) ?? '';
  const body = random.oneIn(2) ? mutateBytes(random, Buffer.from(text)) : Buffer.from(text);
  const authorization = random.pick(scene.apps.authorizations);
  return {
    method: 'POST',
    path,
    headers: { ...ownPage(scene), 'content-type': json, accept: json, authorization },
    body,
  };
};

/** An answer of a SAML provider, changed, in base64 or in something that almost is. */
const saml: Generate = (random, scene) => {
  const xml = mutateXml(
    random,
    random.oneIn(3) ? mutateXml(random, random.pick(scene.samlMessages)) : random.pick(scene.samlMessages),
  );
  const text = Buffer.from(xml).toString('base64');
  const name = random.pick(['SAMLResponse', 'SAMLResponse', 'SAMLRequest']);
  const message = random.oneIn(10) ? mutateText(random, text) : text;
  const fields: Field[] = [
    [name, message],
    ['RelayState', random.oneIn(2) ? random.pick(scene.relayStates) : mutateText(random, 'a')],
  ];
  const path = `/federation/acme-saml/${random.pick(['acs', 'acs', 'acs', 'logout'])}`;
  const elsewhere: Record<string, string> = {
    host: scene.host,
    origin: 'https://idp.example',
    'sec-fetch-site': 'cross-site',
  };
  if (random.oneIn(10))
    return { method: 'GET', path: `${path}${query(random, fields)}`.slice(0, 12_000), headers: elsewhere };
  return { method: 'POST', path, headers: { ...elsewhere, 'content-type': form }, body: encodeFields(random, fields) };
};

/** Every parser of JWTs: bearer tokens, DPoP proofs, client assertions, hints, request objects. */
const jwt: Generate = (random, scene) => {
  const token = mutateJwt(random, random.pick(scene.apps.signedJwts));
  const { accessToken, basic, clientId, redirectUri } = scene.apps;
  const machine: Record<string, string> = { host: scene.host, accept: json, 'content-type': form };
  const assertion: Field[] = [
    ['client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'],
    ['client_assertion', token],
  ];
  const authorize: Field[] = [
    ['client_id', clientId],
    ['response_type', 'code'],
    ['redirect_uri', redirectUri],
    ['scope', 'openid'],
  ];
  const body = (fields: Field[]) => encodeFields(random, fields);
  const shapes: (() => FuzzRequest)[] = [
    () => ({
      method: 'GET',
      path: '/oauth2/userInfo',
      headers: { ...machine, authorization: headerText(`Bearer ${token}`) },
    }),
    () => ({
      method: 'GET',
      path: '/user/info',
      headers: { ...machine, authorization: headerText(`DPoP ${accessToken}`), dpop: headerText(token) },
    }),
    () => ({
      method: 'POST',
      path: '/oauth2/token',
      headers: { ...machine, authorization: basic, dpop: headerText(token) },
      body: body([
        ['grant_type', 'refresh_token'],
        ['refresh_token', 'x'],
      ]),
    }),
    () => ({
      method: 'POST',
      path: '/oauth2/token',
      headers: machine,
      body: body([['grant_type', 'client_credentials'], ...assertion]),
    }),
    () => ({
      method: 'GET',
      path: `/oauth2/logout?${body([['id_token_hint', token]])}`,
      headers: { host: scene.host },
    }),
    () => ({
      method: 'GET',
      path: `/oauth2/authorize?${body([...authorize, ['id_token_hint', token], ['prompt', 'none']])}`,
      headers: { host: scene.host },
    }),
    () => ({
      method: 'GET',
      path: `/oauth2/authorize?${body([...authorize, ['request', token]])}`,
      headers: { host: scene.host },
    }),
    () => ({
      method: 'POST',
      path: '/oauth2/par',
      headers: { ...machine, authorization: basic },
      body: body([...authorize, ['request', token]]),
    }),
    () => ({
      method: 'POST',
      path: '/oauth2/introspect',
      headers: { ...machine, authorization: basic },
      body: body([['token', token]]),
    }),
    () => ({
      method: 'POST',
      path: '/oauth2/revoke',
      headers: { ...machine, authorization: basic },
      body: body([['token', token]]),
    }),
  ];
  const request = random.pick(shapes)();
  return { ...request, path: addressText(request.path).slice(0, 12_000) };
};

/** The endpoints of OAuth 2.0 and OpenID Connect, with changed parameters. */
const protocol: Generate = (random, scene) => {
  const { path, fields } = random.pick(scene.protocolCalls);
  const authorization = random.pick([scene.apps.basic, mutateText(random, scene.apps.basic), '']);
  const common: Record<string, string> = {
    host: scene.host,
    ...(authorization !== '' && { authorization: headerText(authorization) }),
  };
  if (random.oneIn(2) && /authorize|logout|device$/.test(path)) {
    const cookie = random.pick(scene.actors).cookie;
    const headers: Record<string, string> = { host: scene.host, cookie };
    return { method: 'GET', path: (path + query(random, fields)).slice(0, 12_000), headers };
  }
  const body = encodeFields(random, mutateFields(random, fields));
  const headers: Record<string, string> = { ...common, 'content-type': form };
  return { method: 'POST', path, headers, body };
};

/** The kinds of requests, by name. */
export const generators = { anyRoute, shownForm, operation, headers, cookies, rawJson, saml, jwt, protocol } as const;
export type Kind = keyof typeof generators;
export const kinds = Object.keys(generators) as Kind[];

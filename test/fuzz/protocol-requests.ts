import { encodeFields, type Field, headerText, mutateFields, mutateJwt, mutateText, mutateXml } from './mutate.ts';
import { addressText, type FuzzRequest, form, type Generate, json, query } from './request-parts.ts';

/** A changed answer of a SAML provider, in base64 or almost in base64. */
export const saml: Generate = (random, scene) => {
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
export const jwt: Generate = (random, scene) => {
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
export const protocol: Generate = (random, scene) => {
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

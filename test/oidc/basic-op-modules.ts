import { createHash, randomBytes } from 'node:crypto';
import { UnsecuredJWT } from 'jose';
import {
  checkAuthorizationError,
  checkSecretValue,
  checkTokenError,
  checkTokenResponse,
  checkUserInfo,
  type Findings,
  type Json,
  listForeignClaims,
  scopeClaims,
} from './certification-conditions.ts';
import type { Flow, Parameters } from './certification-flow.ts';
import { redirectUri } from './certification-server.ts';

type Run = (flow: Flow) => Promise<unknown>;

const signInPage = '/sign-in';

/** A request that differs by these parameters signs in. */
const succeeds =
  (change: Parameters): Run =>
  (flow) =>
    flow.signIn(change);

/** The claims that nobody has asked to be in the id token are not there. */
function checkOnlyAuthentication(findings: Findings, claims: Json): void {
  const foreign = listForeignClaims(claims);
  findings.should(foreign.length === 0, `the id token has ${foreign.join(' ')}`);
}

const hashHalf = (value: string) => createHash('sha256').update(value).digest().subarray(0, 16).toString('base64url');

const server: Run = async (flow) => {
  const { code, tokens, claims } = await flow.signIn();
  checkSecretValue(flow.findings, code, 'the code');
  for (const [name, value] of [
    ['at_hash', tokens.access_token],
    ['c_hash', code],
  ] as const) {
    flow.findings.must([undefined, hashHalf(value)].includes(claims[name] as string | undefined), `${name} is wrong`);
  }
  checkOnlyAuthentication(flow.findings, claims);
};

const responseTypeMissing: Run = async (flow) => {
  const { method, parameters, page } = await flow.authorize(flow.request({ response_type: undefined }));
  if (method === undefined) {
    flow.findings.must((page?.status ?? 0) >= 400, `the page has the status ${page?.status}`);
    flow.findings.reviews.push('the error page');
  } else checkAuthorizationError(flow.findings, parameters, ['invalid_request', 'unsupported_response_type']);
};

const userInfo =
  (how: 'GET' | 'POST' | 'body'): Run =>
  async (flow) => {
    const { tokens, claims } = await flow.signIn();
    const answer = await flow.callUserInfo(tokens.access_token, how);
    if (how === 'body' && answer.status !== 200) flow.findings.should(false, 'userinfo takes no token in the body');
    else await checkUserInfo(flow.findings, answer, claims.sub);
  };

const withScope =
  (scope: string, order?: (entries: [string, string][]) => [string, string][]): Run =>
  async (flow) => {
    const supported = [flow.target.metadata.scopes_supported].flat();
    flow.findings.must(
      scope.split(' ').every((name) => supported.includes(name)),
      `discovery lacks ${scope}`,
    );
    const { tokens, claims } = await flow.signIn({ scope }, order ? { order } : {});
    const info = await checkUserInfo(flow.findings, await flow.callUserInfo(tokens.access_token), claims.sub);
    const expected = scope.split(' ').flatMap((name) => scopeClaims[name] ?? []);
    const absent = expected.filter((name) => !(name in info));
    flow.findings.should(absent.length === 0, `userinfo lacks ${absent.join(' ')}`);
    const others = Object.values(scopeClaims).flat();
    const foreign = others.filter((name) => name in info && !expected.includes(name) && name !== 'sub');
    flow.findings.should(foreign.length === 0, `userinfo has ${foreign.join(' ')}`);
    checkOnlyAuthentication(flow.findings, claims);
  };

/** The second request asks the user to sign in once more, and `auth_time` says so. */
const signsInAgain =
  (change: Parameters, waitSeconds: number): Run =>
  async (flow) => {
    const first = await flow.signIn();
    await flow.wait(waitSeconds);
    const second = await flow.signIn(change);
    flow.findings.must(second.pages.includes(signInPage), `the user was not asked again: ${second.pages.join(' ')}`);
    const [before, after] = [first, second].map(({ claims }) => claims.auth_time);
    const isAsked = 'max_age' in change;
    flow.findings.must(!isAsked || typeof after === 'number', 'auth_time is missing');
    flow.findings.must(before === undefined || Number(after) > Number(before), `auth_time is ${before}, then ${after}`);
    flow.findings.reviews.push('the second sign-in page');
  };

interface Twice {
  first?: Parameters;
  second(idToken: string): Parameters;
}

/** The second request shows no sign-in page, and its id token has the same subject and `auth_time`. */
const signedInTwice =
  ({ first: change = {}, second: changeSecond }: Twice): Run =>
  async (flow) => {
    const first = await flow.signIn(change);
    const secondChange = changeSecond(first.tokens.id_token);
    const second = await flow.signIn(secondChange);
    flow.findings.must(!second.pages.includes(signInPage), 'the user was asked to sign in again');
    const isSilent = secondChange.prompt === 'none';
    flow.findings.must(!isSilent || second.pages.length === 0, `prompt=none shows ${second.pages.join(' ')}`);
    const [before, after] = [first.claims, second.claims];
    flow.findings.must(before.sub === after.sub, 'another sub');
    const isAsked = 'max_age' in change;
    flow.findings.must(!isAsked || typeof before.auth_time === 'number', 'auth_time is missing');
    flow.findings.must(before.auth_time === after.auth_time, 'another auth_time');
  };

const notSignedIn: Run = async (flow) => {
  const state = randomBytes(96).toString('base64url');
  const { parameters, pages } = await flow.authorize(flow.request({ prompt: 'none', state }));
  flow.findings.must(pages.length === 0, `prompt=none shows ${pages.join(' ')}`);
  const errors = ['interaction_required', 'login_required', 'account_selection_required', 'consent_required'];
  checkAuthorizationError(flow.findings, parameters, errors);
};

const acrValues: Run = async (flow) => {
  const supported = (flow.target.metadata.acr_values_supported ?? ['1', '2']) as string[];
  const { claims } = await flow.signIn({ acr_values: supported.join(' ') });
  flow.findings.should(supported.includes(String(claims.acr)), `acr is ${claims.acr}`);
};

const codeReuse =
  (waitSeconds: number): Run =>
  async (flow) => {
    const { code, tokens } = await flow.signIn();
    await flow.wait(waitSeconds);
    const second = await flow.redeem(code);
    checkTokenError(flow.findings, second.answer, second.body);
    const { status } = await flow.callUserInfo(tokens.access_token);
    flow.findings.should(status === 401, `the first access token is still good: ${status}`);
  };

const unregisteredAddress: Run = async (flow) => {
  const address = `${redirectUri}/${randomBytes(5).toString('hex')}`;
  const { method, page, pages } = await flow.authorize(flow.request({ redirect_uri: address }));
  flow.findings.must(method === undefined, 'an address that is not registered is called');
  flow.findings.must(page?.status === 400 && pages.length === 0, `the page has the status ${page?.status}`);
  flow.findings.must(page?.text.includes(address) !== true, 'the page has the address');
  flow.findings.reviews.push('the error page');
};

/** Discovery does not name `none`, so the suite skips the module. An unsigned object is refused all the same. */
const unsignedObject =
  (outside: Parameters): Run =>
  async (flow) => {
    const supported = (flow.target.metadata.request_object_signing_alg_values_supported ?? []) as string[];
    flow.findings.must(supported.length > 0 && !supported.includes('none'), 'discovery names none');
    const parameters = flow.request();
    const object = new UnsecuredJWT(parameters).setIssuer(flow.clients[0].id).setAudience(flow.target.metadata.issuer);
    const { method, parameters: answer } = await flow.authorize({
      ...parameters,
      ...outside,
      request: object.encode(),
    });
    flow.findings.must(!answer.has('code'), 'an unsigned request object gives a code');
    flow.findings.must(method === undefined || answer.get('error') === 'invalid_request_object', `${answer}`);
    flow.findings.skipped = 'request_object_signing_alg_values_supported has no none';
  };

const essentialName: Run = async (flow) => {
  const request = { claims: JSON.stringify({ userinfo: { name: { essential: true } } }) };
  const { tokens, claims } = await flow.signIn(request);
  const info = await checkUserInfo(flow.findings, await flow.callUserInfo(tokens.access_token), claims.sub);
  flow.findings.should('name' in info, 'userinfo has no name');
  flow.findings.should(!('name' in claims), 'the id token has the name');
};

/** What a refreshed id token keeps (OpenID Connect Core 1.0, section 12.2). */
function checkRefreshedClaims(findings: Findings, before: Json, after: Json): void {
  for (const name of ['iss', 'sub', 'aud', 'auth_time', 'azp']) {
    findings.must(JSON.stringify(after[name]) === JSON.stringify(before[name]), `${name} changes`);
  }
  findings.must(Number(after.iat) > Number(before.iat), 'iat is not the time of the refresh');
}

const refreshToken: Run = async (flow) => {
  const { metadata } = flow.target;
  flow.findings.should(
    [metadata.grant_types_supported].flat().includes('refresh_token'),
    'discovery has no refresh_token',
  );
  const request = { scope: 'openid offline_access', prompt: 'consent' };
  const refresh = async (client: Flow['clients'][number], token: string, fields: Record<string, string>) =>
    flow.callTokenEndpoint({ grant_type: 'refresh_token', refresh_token: token, ...fields }, { client });
  const latest: string[] = [];
  for (const [index, client] of flow.clients.entries()) {
    const nonce = randomBytes(33).toString('base64url').slice(0, 43);
    const { tokens, claims } = await flow.signIn({ ...request, ...(index === 1 && { nonce }) }, { client });
    checkSecretValue(flow.findings, String(tokens.refresh_token), 'the refresh token');
    await flow.wait(1);
    const scope: Record<string, string> = index === 0 ? { scope: request.scope } : {};
    const { answer, body } = await refresh(client, String(tokens.refresh_token), scope);
    checkTokenResponse(flow.findings, answer, body);
    flow.findings.must(body.access_token !== tokens.access_token, 'the access token stays the same');
    // The claim nonce SHOULD NOT be there.
    const refreshed = await flow.checkIdToken(String(body.id_token), undefined, client);
    checkRefreshedClaims(flow.findings, claims, refreshed);
    await checkUserInfo(flow.findings, await flow.callUserInfo(String(body.access_token)), claims.sub);
    latest.push(String(body.refresh_token ?? tokens.refresh_token));
  }
  const stolen = await refresh(flow.clients[0], latest[1] ?? '', { scope: request.scope });
  checkTokenError(flow.findings, stolen.answer, stolen.body);
};

const validPkce: Run = async (flow) => {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const change = { code_challenge: challenge, code_challenge_method: 'S256' };
  await flow.signIn(change, { fields: { code_verifier: verifier } });
};

const loginHint: Run = (flow) => flow.signIn({ login_hint: `buffy@${new URL(flow.target.metadata.issuer).hostname}` });

const byNameBackwards = (entries: [string, string][]) => entries.toSorted(([a], [b]) => (a < b ? 1 : -1));

/**
 * The modules of the plans `oidcc-basic-certification-test-plan` and `oidcc-formpost-basic-certification-test-plan` with
 * discovery and a client that is registered beforehand. Requests and conditions are those of the suite, also those whose
 * breach is a warning.
 */
export const basicOpModules: Readonly<Record<string, Run>> = {
  'oidcc-server': server,
  'oidcc-response-type-missing': responseTypeMissing,
  'oidcc-userinfo-get': userInfo('GET'),
  'oidcc-userinfo-post-header': userInfo('POST'),
  'oidcc-userinfo-post-body': userInfo('body'),
  'oidcc-ensure-request-without-nonce-succeeds-for-code-flow': succeeds({ nonce: undefined }),
  'oidcc-scope-profile': withScope('openid profile'),
  'oidcc-scope-email': withScope('openid email'),
  'oidcc-scope-address': withScope('openid address'),
  'oidcc-scope-phone': withScope('openid phone'),
  'oidcc-scope-all': withScope('openid email phone address profile'),
  'oidcc-alternate-happy-flow': withScope('email openid', byNameBackwards),
  'oidcc-display-page': succeeds({ display: 'page' }),
  'oidcc-display-popup': succeeds({ display: 'popup' }),
  'oidcc-prompt-login': signsInAgain({ prompt: 'login' }, 1),
  'oidcc-prompt-none-not-logged-in': notSignedIn,
  'oidcc-prompt-none-logged-in': signedInTwice({ second: () => ({ prompt: 'none' }) }),
  'oidcc-max-age-1': signsInAgain({ max_age: '1' }, 2),
  'oidcc-max-age-10000': signedInTwice({ first: { max_age: '15000' }, second: () => ({ max_age: '10000' }) }),
  'oidcc-ensure-request-with-unknown-parameter-succeeds': succeeds({ extra: 'foobar' }),
  'oidcc-id-token-hint': signedInTwice({ second: (idToken) => ({ prompt: 'none', id_token_hint: idToken }) }),
  'oidcc-login-hint': loginHint,
  'oidcc-ui-locales': succeeds({ ui_locales: 'se' }),
  'oidcc-claims-locales': succeeds({ claims_locales: 'se' }),
  'oidcc-ensure-request-with-acr-values-succeeds': acrValues,
  'oidcc-codereuse': codeReuse(0),
  'oidcc-codereuse-30seconds': codeReuse(30),
  'oidcc-ensure-registered-redirect-uri': unregisteredAddress,
  'oidcc-ensure-post-request-succeeds': (flow) => flow.signIn({}, { method: 'POST' }),
  'oidcc-server-client-secret-post': (flow) => flow.signIn({}, { secretInBody: true }),
  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported': unsignedObject({}),
  'oidcc-claims-essential': essentialName,
  'oidcc-ensure-request-object-with-redirect-uri': unsignedObject({ redirect_uri: `${redirectUri}/invalid` }),
  'oidcc-refresh-token': refreshToken,
  'oidcc-ensure-request-with-valid-pkce-succeeds': validPkce,
};

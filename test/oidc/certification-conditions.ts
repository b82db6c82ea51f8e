import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';

export type Json = Record<string, unknown>;

/** The results of a module, in the suite’s words: a review is a screenshot that a person looks at. */
export class Findings {
  readonly failures: string[] = [];
  readonly warnings: string[] = [];
  readonly reviews: string[] = [];
  skipped: string | undefined;

  /** A condition whose breach fails the module. */
  must(holds: boolean, text: string): void {
    if (!holds) this.failures.push(text);
  }

  /** A condition whose breach is a warning. */
  should(holds: boolean, text: string): void {
    if (!holds) this.warnings.push(text);
  }

  get result(): 'failed' | 'warning' | 'skipped' | 'review' | 'passed' {
    if (this.failures.length > 0) return 'failed';
    if (this.warnings.length > 0) return 'warning';
    if (this.skipped !== undefined) return 'skipped';
    return this.reviews.length > 0 ? 'review' : 'passed';
  }
}

const skewSeconds = 5 * 60;
const yearSeconds = 365 * 24 * 60 * 60;

const isText = (value: unknown) =>
  typeof value === 'string' && value.trim() !== '' && value.trim().toLowerCase() !== 'null';
const isFlag = (value: unknown) => typeof value === 'boolean';
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isBirthdate(value: unknown): boolean {
  const [, year = '', rest] = /^(\d{4})(-\d{2}-\d{2})?$/.exec(String(value)) ?? [];
  if (year === '') return false;
  if (year !== '0000' && (Number(year) < 1850 || Number(year) > new Date().getFullYear())) return false;
  if (rest === undefined) return year !== '0000';
  const day = new Date(`2000${rest}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(4, 10) === rest;
}

const texts = (names: string) => names.split(' ').map((name) => [name, isText] as const);
const addressParts = new Map(texts('formatted street_address locality region postal_code country'));
const isAddress = (value: unknown) =>
  isObject(value) &&
  Object.keys(value).length > 0 &&
  Object.entries(value).every(([name, part]) => addressParts.get(name)?.(part) !== false);

/** The shapes of the standard claims (OpenID Connect Core 1.0, section 5.1). */
const claimShapes = new Map<string, (value: unknown) => boolean>([
  ...texts(
    'sub name given_name family_name middle_name nickname preferred_username profile picture website email gender',
  ),
  ...texts('zoneinfo locale phone_number'),
  ['email_verified', isFlag],
  ['phone_number_verified', isFlag],
  ['birthdate', isBirthdate],
  ['address', isAddress],
  ['updated_at', (value) => Number.isInteger(value)],
]);

/** The claims of the scopes, as the suite expects them (section 5.4). */
export const scopeClaims: Readonly<Record<string, readonly string[]>> = {
  openid: ['sub'],
  profile:
    'name given_name family_name middle_name nickname profile picture website gender birthdate zoneinfo locale updated_at preferred_username'.split(
      ' ',
    ),
  email: ['email', 'email_verified'],
  address: ['address'],
  phone: ['phone_number', 'phone_number_verified'],
  offline_access: [],
};

export function checkStandardClaims(findings: Findings, claims: Json, place: string): void {
  for (const [name, value] of Object.entries(claims)) {
    findings.must(claimShapes.get(name)?.(value) !== false, `${place}: ${name} is ${JSON.stringify(value)}`);
  }
  const { updated_at: updatedAt } = claims;
  // A time in milliseconds would be far ahead.
  const latest = Date.now() / 1000 + skewSeconds;
  findings.must(updatedAt === undefined || Number(updatedAt) <= latest, `${place}: updated_at is ahead`);
}

/** The claims that an id token may have although nobody has asked for them. */
const idTokenClaims = new Set(
  'iss sub aud exp iat auth_time nonce acr amr azp at_hash c_hash nbf jti sid s_hash'.split(' '),
);

/** Claims of users that the request has not asked to be in the id token. */
export const listForeignClaims = (claims: Json): string[] =>
  Object.keys(claims).filter((name) => !idTokenClaims.has(name));

export interface IdTokenExpectation {
  issuer: string;
  clientId: string;
  nonce: string | undefined;
  keys: JSONWebKeySet;
}

function checkTimes(findings: Findings, { exp, iat, auth_time: authTime, nbf }: Json): void {
  const now = Date.now() / 1000;
  const isBetween = (value: unknown, from: number, to: number) =>
    typeof value === 'number' && value >= now + from && value <= now + to;
  findings.must(isBetween(exp, -skewSeconds, 50 * yearSeconds), `exp is ${exp}`);
  findings.must(isBetween(iat, -skewSeconds, skewSeconds), `iat is ${iat}`);
  findings.must(authTime === undefined || isBetween(authTime, -yearSeconds, skewSeconds), `auth_time is ${authTime}`);
  findings.must(nbf === undefined || isBetween(nbf, -yearSeconds, skewSeconds), `nbf is ${nbf}`);
}

/** The suite’s standard checks of an id token; returns its claims. */
export async function checkIdToken(findings: Findings, idToken: string, expected: IdTokenExpectation): Promise<Json> {
  const claims: Json = decodeJwt(idToken);
  const { alg, kid } = decodeProtectedHeader(idToken);
  findings.must(alg === 'RS256', `the id token is signed with ${alg}`);
  findings.must(typeof kid === 'string', 'the id token names no key');
  const verified = await jwtVerify(idToken, createLocalJWKSet(expected.keys)).catch((error: Error) => error.message);
  findings.must(typeof verified !== 'string', `the id token does not verify: ${String(verified)}`);
  findings.must(claims.iss === expected.issuer, `iss is ${claims.iss}`);
  findings.must([claims.aud].flat().includes(expected.clientId), `aud is ${JSON.stringify(claims.aud)}`);
  checkTimes(findings, claims);
  findings.must(claims.acr === undefined || isText(claims.acr), `acr is ${JSON.stringify(claims.acr)}`);
  findings.must(claims.nonce === expected.nonce, `nonce is ${claims.nonce} in place of ${expected.nonce}`);
  findings.must(/^[\x21-\x7e]{1,255}$/.test(String(claims.sub)), `sub is ${claims.sub}`);
  checkStandardClaims(findings, claims, 'id token');
  return claims;
}

/** Shannon’s entropy of a value, in bits. */
function measureEntropy(value: string): number {
  const counts = Map.groupBy(value, (character) => character);
  const shares = [...counts.values()].map((same) => same.length / value.length);
  return -value.length * shares.reduce((sum, share) => sum + share * Math.log2(share), 0);
}

/** Enough bits to guess for ever (RFC 6749, section 10.10). */
export function checkSecretValue(findings: Findings, value: string, name: string): void {
  findings.must(value.length * 8 >= 128, `${name} is short`);
  findings.must(measureEntropy(value) >= 96, `${name} can be guessed`);
  findings.must(/^[\x20-\x7e]+$/.test(value), `${name} has characters that none may have`);
}

export const hasType = (answer: Response, type: string): boolean =>
  new RegExp(`^${type}(?:; ?charset=utf-8)?$`, 'i').test(answer.headers.get('content-type') ?? '');

const hasNoStore = (answer: Response) =>
  (answer.headers.get('cache-control') ?? '').split(',').some((part) => part.trim() === 'no-store');

export function checkTokenResponse(findings: Findings, answer: Response, body: Json): void {
  findings.must(answer.status === 200, `the token endpoint answers ${answer.status}: ${JSON.stringify(body)}`);
  findings.must(hasType(answer, 'application/json'), `its type is ${answer.headers.get('content-type')}`);
  findings.must(hasNoStore(answer), 'tokens may be stored by caches');
  findings.must(String(body.token_type).toLowerCase() === 'bearer', `token_type is ${body.token_type}`);
  checkSecretValue(findings, String(body.access_token ?? ''), 'the access token');
  const { expires_in: seconds } = body;
  findings.should(seconds !== undefined, 'expires_in is missing');
  const isLifetime = typeof seconds === 'number' && seconds >= 1 && seconds <= yearSeconds;
  findings.must(seconds === undefined || isLifetime, `expires_in is ${JSON.stringify(seconds)}`);
}

const errorDescription = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;

function checkErrorFields(findings: Findings, { error, error_description: text, error_uri: uri }: Json): void {
  findings.must(typeof error === 'string' && errorDescription.test(error), `error is ${JSON.stringify(error)}`);
  findings.must(text === undefined || errorDescription.test(String(text)), `error_description is ${text}`);
  findings.must(uri === undefined || URL.canParse(String(uri)), `error_uri is ${uri}`);
}

/** An error of the token endpoint (section 3.1.3.4). */
export function checkTokenError(findings: Findings, answer: Response, body: Json): void {
  findings.must(answer.status === 400, `the token endpoint answers ${answer.status}`);
  findings.must(hasType(answer, 'application/json'), `its type is ${answer.headers.get('content-type')}`);
  findings.must(body.error === 'invalid_grant', `the error is ${body.error}`);
  checkErrorFields(findings, body);
}

const errorParameters = new Set(['error', 'error_description', 'error_uri', 'state', 'session_state', 'iss']);

/** An error of the authorization endpoint at the client (section 3.1.2.6); `errors` are those that the module allows. */
export function checkAuthorizationError(findings: Findings, parameters: URLSearchParams, errors: string[]): void {
  const body = Object.fromEntries(parameters);
  findings.must(errors.includes(String(body.error)), `the error is ${body.error}`);
  findings.must(body.code === undefined, 'an error comes with a code');
  const unknown = Object.keys(body).filter((name) => !errorParameters.has(name));
  findings.should(unknown.length === 0, `the error has ${unknown.join(' ')}`);
  checkErrorFields(findings, body);
}

/** An answer of userinfo (section 5.3.2). */
export async function checkUserInfo(findings: Findings, answer: Response, sub: unknown): Promise<Json> {
  findings.must(answer.status === 200, `userinfo answers ${answer.status}`);
  findings.must(hasType(answer, 'application/json'), `the type of userinfo is ${answer.headers.get('content-type')}`);
  findings.should(hasNoStore(answer), 'userinfo may be stored by caches');
  const claims = (await answer.json()) as Json;
  checkStandardClaims(findings, claims, 'userinfo');
  findings.must(claims.sub === sub, `sub of userinfo is ${claims.sub}, of the id token ${sub}`);
  const { _claim_names: names, _claim_sources: sources } = claims;
  findings.must(names === undefined && sources === undefined, 'userinfo refers to other sources');
  return claims;
}

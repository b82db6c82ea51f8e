import { type Client, type Configuration, errors } from 'oidc-provider';

type Jwt = { claims: Readonly<Record<string, unknown>>; header: Readonly<Record<string, unknown>> };
type AssertClientJwt = NonNullable<Configuration['assertJwtClientAuthClaimsAndHeader']>;

/** FAPI 2.0 Security Profile, section 5.4.1. */
export const fapi2Algorithms = ['ES256', 'PS256', 'EdDSA', 'Ed25519'] as const;
const allowed: ReadonlySet<unknown> = new Set(fapi2Algorithms);

/** Section 5.3.2.1: a JWT may be 10 seconds ahead, and must not be more than 60. */
const aheadSeconds = 60;

const isFapi2 = (client: Client | undefined): boolean => client?.profile === 'fapi2';

function isAhead(claims: Jwt['claims']): boolean {
  const latest = Date.now() / 1000 + aheadSeconds;
  return [claims.iat, claims.nbf].some((time) => typeof time === 'number' && time > latest);
}

/** Client assertions of the profile: the audience is the issuer alone, as a text (section 5.3.2.1). */
export const assertClientAssertion: AssertClientJwt = (ctx, claims, header) => {
  if (!isFapi2(ctx.oidc.client)) return;
  if (claims.aud !== ctx.oidc.issuer)
    throw new errors.InvalidClientAuth('audience (aud) must be the issuer as a string');
  if (!allowed.has(header.alg)) throw new errors.InvalidClientAuth('alg is not one of the FAPI 2.0 profile');
  if (isAhead(claims)) throw new errors.InvalidClientAuth('iat or nbf is in the future');
};

/** Request objects of the profile (FAPI 2.0 Message Signing, section 5.3.1). */
export function assertFapi2RequestObject({ claims, header }: Jwt, client: Client | undefined): void {
  if (!isFapi2(client)) return;
  if (!allowed.has(header.alg)) throw new errors.InvalidRequestObject('alg is not one of the FAPI 2.0 profile');
  if (typeof claims.nbf !== 'number')
    throw new errors.InvalidRequestObject("Request Object is missing the 'nbf' claim");
}

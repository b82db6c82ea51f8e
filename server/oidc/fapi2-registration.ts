import { hasKeys, type PublicKeySet } from './client-keys.ts';
import type { CompleteRequest } from './client-request.ts';
import { fapi2Algorithms } from './fapi2.ts';

const algorithms: readonly string[] = fapi2Algorithms;
/** 2,048 bits (FAPI 2.0 Security Profile, section 5.4.1). */
const minModulusBytes = 256;

/** A fault of a registration, in words for the operator; `false`: there is none. */
type Fault = false | string;

/** The reason that a key cannot sign by an algorithm of the profile. */
function keyFault({ kty, crv, alg, n }: PublicKeySet['keys'][number]): Fault {
  if (alg !== undefined && !algorithms.includes(String(alg))) return `a key of alg ${String(alg)}`;
  if (kty === 'RSA')
    return Buffer.from(String(n), 'base64url').length < minModulusBytes && 'an RSA key below 2048 bits';
  if (kty === 'EC') return crv !== 'P-256' && `a key of crv ${String(crv)}`;
  return crv !== 'Ed25519' && `a key of crv ${String(crv)}`;
}

const signingKeys = ({ jwks }: CompleteRequest) => (jwks?.keys ?? []).filter(({ use }) => use !== 'enc');

function kindFaults(request: CompleteRequest): Fault[] {
  return [
    (request.public || request.native) && 'the client must keep a secret: leave --public and --native out',
    request.device && 'no sign-in on another device',
    request.service && 'no client credentials',
    (request.legacy || request.legacyIdTokenRedirect) && 'no short forms',
    request.responseTypes.some((type) => type !== 'code') && 'only the response type code',
    !hasKeys(request) && 'needs keys: write --jwks or --jwks-uri',
  ];
}

function securityFaults(request: CompleteRequest): Fault[] {
  return [
    !request.requirePushedRequests && 'needs pushed requests',
    !request.dpopBound && 'needs access tokens that are bound to a key (DPoP)',
    request.pkceOptional === true && 'no requests without PKCE',
    request.unsignedRequestObjects === true && 'no unsigned request objects',
    request.idTokenAlg === 'RS256' && 'no id tokens with RS256: write --id-token-alg ES256',
  ];
}

/** Every address has TLS, in development too. */
function addressFaults({ redirectUris, jwksUri }: CompleteRequest): Fault[] {
  const plain = [...redirectUris, ...(jwksUri === undefined ? [] : [jwksUri])].filter(
    (uri) => !uri.startsWith('https:'),
  );
  return plain.map((uri) => `${uri}: must begin with https://`);
}

/** @returns the faults of a registration with the FAPI 2.0 Security Profile, in words for the operator */
export function fapi2Faults(request: CompleteRequest): string[] {
  const { profile } = request;
  if (profile === undefined) return [];
  if (profile !== 'fapi2') return [`profile ${profile}: write fapi2`];
  const keys = signingKeys(request).flatMap((key) => keyFault(key) || []);
  const faults = [...kindFaults(request), ...securityFaults(request), ...addressFaults(request)];
  return [
    ...faults.flatMap((fault) => fault || []),
    ...keys.map((fault) => `${fault} cannot sign with ${algorithms.join(', ')}`),
  ].map((fault) => `profile fapi2: ${fault}`);
}

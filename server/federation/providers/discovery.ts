import * as client from 'openid-client';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import type { FederationError } from '../identity.ts';
import { fetchLimited } from './fetch-limited.ts';
import { fromOidcError } from './oidc-errors.ts';

/**
 * How long a discovery document is used: a provider may replace its endpoints. Its keys are looked up again when an
 * unknown one appears.
 */
const knownMs = 60 * 60_000;
/** Fail fast for this long after a failed discovery. */
const pauseMs = 5_000;

export type ProviderDiscovery = () => Promise<client.Configuration>;

/**
 * A provider's discovery document (OpenID Connect Discovery 1.0, section 4). It is fetched when a user first needs it,
 * not at the start: an unavailable provider must not prevent other sign-ins.
 * @throws by the function: {FederationError}
 */
export function createDiscovery(
  config: Pick<OidcProviderConfig, 'issuer' | 'clientId' | 'clientSecret'>,
  now: () => number,
  answerMs?: number,
): ProviderDiscovery {
  let known: { configuration: client.Configuration; atMs: number } | undefined;
  let asking: Promise<client.Configuration> | undefined;
  let failed: { refusal: FederationError; atMs: number } | undefined;

  async function discover(): Promise<client.Configuration> {
    try {
      const configuration = await discoverOnce(config, answerMs);
      known = { configuration, atMs: now() };
      failed = undefined;
      return configuration;
    } catch (error) {
      const refusal = fromOidcError(error);
      failed = { refusal, atMs: now() };
      // An hour-old document is better than none.
      if (known && refusal.kind === 'unreachable') return known.configuration;
      throw refusal;
    }
  }

  return async () => {
    const within = (atMs: number, ms: number) => Math.abs(now() - atMs) < ms;
    if (known && within(known.atMs, knownMs)) return known.configuration;
    if (failed && within(failed.atMs, pauseMs)) {
      if (known && failed.refusal.kind === 'unreachable') return known.configuration;
      throw failed.refusal;
    }
    asking ??= discover().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/** @throws the errors of openid-client, or {FederationError} */
export async function discoverOnce(
  { issuer, clientId, clientSecret }: Pick<OidcProviderConfig, 'issuer' | 'clientId' | 'clientSecret'>,
  answerMs?: number,
): Promise<client.Configuration> {
  // Only on this machine: the configuration accepts no others.
  const insecure = issuer.startsWith('http://') ? [client.allowInsecureRequests] : [];
  const authentication = clientSecret === undefined ? client.None() : bySecret(clientSecret);
  return client.discovery(new URL(issuer), clientId, {}, authentication, {
    // TLS alone would suffice for a token that comes directly from the provider; the signature is an additional check,
    // because proxies can read TLS.
    execute: [...insecure, client.enableNonRepudiationChecks],
    [client.customFetch]: (url, init) => fetchBounded(url, init, answerMs),
  });
}

/** The authentication method of the provider; the default is Basic (Discovery 1.0, section 3). */
function bySecret(secret: string): client.ClientAuth {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const known = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const byPost = known.includes('client_secret_post') && !known.includes('client_secret_basic');
    return (byPost ? post : basic)(server, ...rest);
  };
}

/** A request of a library, within the limits. */
export async function fetchBounded(url: string, init: client.CustomFetchOptions, answerMs?: number): Promise<Response> {
  const { method, headers, body, signal } = init;
  const requested = await fetchLimited(
    url,
    { method, headers, body: body as RequestInit['body'], ...(signal && { signal }) },
    answerMs,
  );
  return new Response(requested.text === '' ? null : requested.text, {
    status: requested.status,
    headers: requested.headers,
  });
}

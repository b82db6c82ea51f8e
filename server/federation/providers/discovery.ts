import * as client from 'openid-client';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import { hourMs, parseUnknownJson } from '../../shared/index.ts';
import type { FederationError } from '../identity.ts';
import { toDecryptionKeys } from './client-keys.ts';
import { fetchLimited, type HttpResponse } from './fetch-limited.ts';
import { fromDiscoveryError } from './oidc-errors.ts';
import { createProviderKeys, type ProviderKeys } from './provider-keys.ts';

/** How long a discovery document is used: a provider may replace its endpoints. */
const knownMs = hourMs;
/** Fail fast for this long after a failed discovery. */
const pauseMs = 5_000;

/**
 * The provider as the library sees it.
 * @param authenticate opens a configuration of its own for one sign-in, with the newest keys of the provider; without
 * it all callers get the same, which is for its metadata alone
 */
export type ProviderDiscovery = (authenticate?: client.ClientAuth) => Promise<client.Configuration>;

interface DiscoverySettings {
  now: () => number;
  answerMs?: number | undefined;
  keys?: ProviderKeys;
}

type DiscoveryConfig = Pick<OidcProviderConfig, 'issuer' | 'clientId'> &
  Partial<Pick<OidcProviderConfig, 'decryptionKey'>>;

/**
 * A provider's discovery document (OpenID Connect Discovery 1.0, section 4). It is fetched when a user first needs it,
 * not at the start: an unavailable provider must not prevent other sign-ins.
 * @throws by the function: {FederationError}
 */
export function createDiscovery(
  config: DiscoveryConfig,
  { now, answerMs, keys = createProviderKeys(now) }: DiscoverySettings,
): ProviderDiscovery {
  let known: { discovered: Discovered; atMs: number } | undefined;
  let asking: Promise<Discovered> | undefined;
  let failed: { refusal: FederationError; atMs: number } | undefined;
  let decryption: Promise<client.DecryptionKey[]> | undefined;

  async function discover(): Promise<Discovered> {
    try {
      const discovered = await discoverOnce(config, { answerMs });
      known = { discovered, atMs: now() };
      failed = undefined;
      return discovered;
    } catch (error) {
      const refusal = fromDiscoveryError(error);
      failed = { refusal, atMs: now() };
      if (known && mayPass(refusal)) return known.discovered;
      throw refusal;
    }
  }

  async function current(): Promise<Discovered> {
    const within = (atMs: number, ms: number) => Math.abs(now() - atMs) < ms;
    if (known && within(known.atMs, knownMs)) return known.discovered;
    if (failed && within(failed.atMs, pauseMs)) {
      if (known && mayPass(failed.refusal)) return known.discovered;
      throw failed.refusal;
    }
    asking ??= discover().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return async (authenticate) => {
    const { configuration, document } = await current();
    if (authenticate === undefined) return configuration;
    decryption ??= config.decryptionKey === undefined ? undefined : toDecryptionKeys(config.decryptionKey);
    const own = await discoverOnce(config, { answerMs, authenticate, document, decryptionKeys: await decryption });
    return keys.serve(own.configuration, (url) => fetchLimited(url, { headers: acceptKeys }, answerMs));
  };
}

/** An hour-old document is better than none, or than the page of a proxy; unless the provider says that it has moved. */
const mayPass = ({ kind }: FederationError): boolean => kind !== 'not-set-up';

const acceptKeys = { Accept: 'application/json, application/jwk-set+json' };

export interface Discovered {
  configuration: client.Configuration;
  document: HttpResponse | undefined;
}

/**
 * @param settings.document the provider's, from an earlier discovery: nothing is fetched. The library has no other way
 * to a second configuration that also knows the rules for some providers' issuers
 * @throws the errors of openid-client, or {FederationError}
 */
export async function discoverOnce(
  { issuer, clientId }: DiscoveryConfig,
  {
    answerMs,
    authenticate = client.None(),
    document,
    decryptionKeys,
  }: {
    answerMs?: number | undefined;
    authenticate?: client.ClientAuth;
    document?: HttpResponse | undefined;
    decryptionKeys?: client.DecryptionKey[] | undefined;
  } = {},
): Promise<Discovered> {
  // Only on this machine: the configuration accepts no others.
  const insecure = issuer.startsWith('http://') ? [client.allowInsecureRequests] : [];
  let fetched = document;
  const configuration = await client.discovery(new URL(issuer), clientId, {}, authenticate, {
    // TLS alone would suffice for a token that comes directly from the provider; the signature is an additional check,
    // because proxies can read TLS.
    execute: [...insecure, client.enableNonRepudiationChecks],
    async [client.customFetch](url, init) {
      fetched ??= await fetchAnswer(url, init, answerMs);
      return toResponse(fetched);
    },
  });
  if (decryptionKeys) client.enableDecryptingResponses(configuration, contentEncryption, ...decryptionKeys);
  configuration[client.customFetch] = (url, init) => fetchBounded(url, init, answerMs);
  return { configuration, document: fetched };
}

/** The ways in which products encrypt id tokens and logout tokens (RFC 7518, section 5.1). */
export const contentEncryption = ['A128GCM', 'A256GCM', 'A128CBC-HS256', 'A256CBC-HS512'];

const toResponse = ({ status, headers, text }: HttpResponse) =>
  new Response(text === '' ? null : text, { status, headers });

/** A request of a library, within the limits. */
export async function fetchBounded(url: string, init: client.CustomFetchOptions, answerMs?: number): Promise<Response> {
  return toResponse(await fetchAnswer(url, init, answerMs));
}

async function fetchAnswer(url: string, init: client.CustomFetchOptions, answerMs?: number): Promise<HttpResponse> {
  const { method, headers, body, signal } = init;
  const fetched = await fetchLimited(
    url,
    { method, headers, body: body as RequestInit['body'], ...(signal && { signal }) },
    answerMs,
  );
  return method === 'POST' ? withErrorWord(fetched) : fetched;
}

/**
 * A refusal of the client at an endpoint where it authenticates. The library reads the header first and then no word;
 * and a 401 has but one meaning there (RFC 6749, section 5.2).
 */
function withErrorWord({ status, headers, text }: HttpResponse): HttpResponse {
  if (status !== 401) return { status, headers, text };
  const clean = new Headers({ 'Content-Type': 'application/json' });
  return { status, headers: clean, text: hasErrorWord(text) ? text : '{"error":"invalid_client"}' };
}

function hasErrorWord(text: string): boolean {
  try {
    const answer = parseUnknownJson(text);
    return typeof answer === 'object' && answer !== null && 'error' in answer && Boolean(answer.error);
  } catch {
    return false;
  }
}

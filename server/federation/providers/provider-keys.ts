import { setTimeout as sleep } from 'node:timers/promises';
import * as client from 'openid-client';
import { minuteMs, parseUnknownJson } from '../../shared/index.ts';
import type { HttpResponse } from './fetch-limited.ts';

/** Between two requests for a provider's keys, whatever its answers name. */
const pauseMs = 5_000;
/** A key that the provider has withdrawn is not trusted for longer. */
const knownMs = 5 * minuteMs;
/** The library looks again for a key that it does not know if its keys are at least this old, in seconds. */
const renewableS = 61;

interface KnownKeys {
  set: client.JWKS;
  answer: HttpResponse;
  atMs: number;
}

/** The keys with which one provider signs. */
export interface ProviderKeys {
  /**
   * Gives a configuration the newest keys. An id token with an unknown key lets the library fetch them once more at
   * once, but at most every five seconds for all sign-ins by this provider; a sign-in within these waits.
   */
  serve(configuration: client.Configuration, ask: (url: string) => Promise<HttpResponse>): client.Configuration;
}

/** @param wait for tests */
export function createProviderKeys(
  now: () => number,
  wait: (ms: number) => Promise<unknown> = (ms) => sleep(ms),
): ProviderKeys {
  let known: KnownKeys | undefined;
  let askedAtMs: number | undefined;
  let asking: Promise<HttpResponse> | undefined;

  async function askOnce(ask: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const restMs = askedAtMs === undefined ? 0 : pauseMs - Math.abs(now() - askedAtMs);
    if (restMs > 0) await wait(restMs);
    askedAtMs = now();
    const answer = await ask();
    const set = answer.status === 200 ? readKeySet(answer.text) : undefined;
    if (set) known = { set, answer, atMs: askedAtMs };
    return answer;
  }

  /** Keys without a name cannot be told apart, so that a replaced one is not noticed. */
  const isFresh = ({ set, atMs }: KnownKeys) =>
    Math.abs(now() - atMs) < (set.keys.every(({ kid }) => kid !== undefined) ? knownMs : pauseMs);

  /** @param own the keys that the sign-in has; others that were fetched meanwhile replace them without a request */
  async function renew(own: KnownKeys | undefined, ask: () => Promise<HttpResponse>): Promise<HttpResponse> {
    if (known && known !== own && known.answer.text !== own?.answer.text) return known.answer;
    asking ??= askOnce(ask).finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return {
    serve(configuration, ask) {
      const own = known;
      if (known && isFresh(known))
        client.setJwksCache(configuration, { jwks: known.set, uat: Math.floor(Date.now() / 1_000) - renewableS });
      const other = configuration[client.customFetch];
      if (!other) throw new Error('a configuration without its own requests');
      const address = configuration.serverMetadata().jwks_uri;
      configuration[client.customFetch] = async (url, init) => {
        if (url !== address || init.method !== 'GET') return other(url, init);
        const { status, headers, text } = await renew(own, () => ask(url));
        return new Response(text, { status, headers });
      };
      return configuration;
    },
  };
}

function isJwk(value: unknown): value is client.JWK {
  if (typeof value !== 'object' || value === null) return false;
  return !('kid' in value) || typeof value.kid === 'string';
}

function readKeySet(text: string): client.JWKS | undefined {
  try {
    const answer = parseUnknownJson(text);
    if (typeof answer !== 'object' || answer === null || !('keys' in answer)) return undefined;
    const { keys } = answer;
    return Array.isArray(keys) && keys.every(isJwk) ? { keys } : undefined;
  } catch {
    return undefined;
  }
}

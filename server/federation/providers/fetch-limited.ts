import { propertyIn, readShortText } from '../../shared/index.ts';
import { FederationError } from '../identity.ts';
import { providerTimeoutMs } from './passport.ts';

export interface HttpResponse {
  status: number;
  headers: Headers;
  text: string;
}

const awayStatuses = new Set([502, 503, 504]);

/** Discovery documents, keys and profiles have some kilobytes. */
const maxBytes = 1_048_576;

/**
 * One request to a provider, with limits of time and size and without redirects, because it contains secrets.
 * @throws {FederationError} unreachable; invalid if the response is too long
 */
export async function fetchLimited(
  url: string | URL,
  init: { method?: string; headers?: Record<string, string>; body?: RequestInit['body']; signal?: AbortSignal } = {},
  withinMs: number = providerTimeoutMs,
): Promise<HttpResponse> {
  const { origin } = new URL(url);
  const late = AbortSignal.timeout(withinMs);
  const signal = init.signal ? AbortSignal.any([init.signal, late]) : late;
  try {
    const answer = await fetch(url, { ...init, redirect: 'manual', signal });
    // From a proxy that cannot reach the provider (RFC 9110, section 15.6).
    if (awayStatuses.has(answer.status)) {
      await answer.body?.cancel();
      throw new FederationError('unreachable', `${origin}: status ${answer.status}`);
    }
    const text = await readShortText(answer, maxBytes);
    if (text === undefined) throw new FederationError('invalid', `${origin}: response longer than ${maxBytes} bytes`);
    return { status: answer.status, headers: answer.headers, text };
  } catch (error) {
    if (error instanceof FederationError) throw error;
    throw new FederationError('unreachable', `${origin}: ${toNetworkReason(error)}`);
  }
}

/** The cause of a network error: `fetch` itself only reports that it failed. */
function toNetworkReason(error: unknown): string {
  const name = propertyIn(error, 'name');
  if (name === 'TimeoutError') return 'no answer in time';
  return String(propertyIn(propertyIn(error, 'cause'), 'code') ?? name ?? 'no answer');
}

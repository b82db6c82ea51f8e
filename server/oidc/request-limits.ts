import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { errors, type Interaction } from 'oidc-provider';
import { consumeLimits, HttpError, rateLimiter, rateLimits, toRetrySeconds, type VisitorGate } from '../http/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { postedFieldsKey } from './posted-fields.ts';
import { routes } from './routes-table.ts';
import { pushedRequestKey } from './short-lived-adapter.ts';

/** Limits in front of those provider routes that store data for anonymous callers. */
export function requestLimits(kv: KeyValueStore): [path: string, limit: RequestHandler][] {
  return [
    [routes.pushed_authorization_request, rateLimiter(kv, rateLimits.pushedRequest)],
    [routes.device_authorization, rateLimiter(kv, rateLimits.deviceRequest)],
  ];
}

const pushedUrn = 'urn:ietf:params:oauth:request_uri:';
/** Size of two records and their keys, without the request itself. */
const fixedBytes = 700;

/** Approximate bytes that are stored for it: twice its address, sealed, or the size of the pushed or posted data. */
async function findBytes(kv: KeyValueStore, url: string): Promise<number> {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const uri = query.get('request_uri') ?? '';
  const pushedKey = uri.startsWith(pushedUrn) ? pushedRequestKey(uri.slice(pushedUrn.length)) : undefined;
  const key = postedFieldsKey(query) ?? pushedKey;
  const stored = key === undefined ? null : await kv.get(key);
  return fixedBytes + 2 * (url.length + (stored ?? '').length);
}

export interface Admission {
  kv: KeyValueStore;
  gate: VisitorGate;
}

/**
 * Counts an authorization request of a visitor who is not signed in, or a page that stores form data: each uses the
 * store for a while. Users are known, and their requests are mostly answered at once.
 * @throws {HttpError} tooMany, or busy while visitors' data fill the store
 */
export async function consumeVisitorAuthorization(
  { kv, gate }: Admission,
  req: IncomingMessage,
  address: string,
): Promise<void> {
  await countRequest(kv, address, async () => {
    await gate.admit(req, address, { bytes: await findBytes(kv, req.url ?? '') });
  });
}

/** Counts a form that a client app's page has posted; the request that follows has cookies, this one has none. */
export async function admitPost(
  { kv, gate }: Admission,
  req: IncomingMessage,
  { address, ...stored }: { address: string; bytes: number; ttlMs: number },
): Promise<void> {
  await countRequest(kv, address, () => gate.admit(req, address, stored));
}

/** @throws {HttpError} tooMany, or as `admit`: a request that it refuses is not counted */
async function countRequest(kv: KeyValueStore, address: string, admit: () => Promise<void>): Promise<void> {
  const decision = await consumeLimits(kv, rateLimits.authorizationRequest, { address });
  if (!decision.allowed) {
    const retryAfterSeconds = toRetrySeconds(decision.retryAfterMs);
    throw new HttpError('tooMany', { detail: 'too many authorization requests of one network', retryAfterSeconds });
  }
  try {
    await admit();
  } catch (error) {
    await decision.release();
    throw error;
  }
}

/**
 * Counts an authorization request that waits for a signed-in user; silent answers never reach this.
 * @throws {errors.CustomOIDCProviderError} which the client app receives
 */
export async function consumeUserAuthorization(
  { kv, gate }: Admission,
  req: IncomingMessage,
  { member, interaction }: { member: string; interaction: Pick<Interaction, 'destroy' | 'params'> },
): Promise<void> {
  const decision = await consumeLimits(kv, rateLimits.userAuthorizationRequest, { account: member });
  const bytes = fixedBytes + 2 * JSON.stringify(interaction.params).length;
  if (decision.allowed) {
    if (await gate.admitMember(req, member, bytes)) return;
    await decision.release();
  }
  await interaction.destroy();
  throw new errors.CustomOIDCProviderError('temporarily_unavailable', 'too many requests of this End-User');
}

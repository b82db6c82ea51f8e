import { createHmac } from 'node:crypto';
import type { Request } from 'express';
import Provider, { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { VisitorGate } from '../http/index.ts';
import { HttpError, toRetrySeconds } from '../http/index.ts';
import { sha256, toSealedText } from '../shared/index.ts';
import type { KeyValueStore, SecretBox } from '../store/index.ts';
import { deviceCodeSeconds } from './device-flow.ts';
import { parsePayload } from './grant-records-store.ts';

interface ShortLivedAdapterDeps {
  kv: KeyValueStore;
  box: SecretBox;
  now: () => number;
  grants: { isFound(grantId: string): Promise<boolean>; revoke(grantId: string): Promise<void> };
  visitorGate: Pick<VisitorGate, 'admit'>;
  /** Typed codes are short: a plain hash of one could be reversed by trying all codes. */
  userCodeSecret: Buffer;
}

/** Records whose `jti` may be presented only once: their insert fails if there is one (RFC 9449, section 11.1). */
const insertOnly: ReadonlySet<string> = new Set(['ReplayDetection']);

/** Size limit, in characters, for records that unauthenticated callers can create (RFC 9126, section 2.3). */
const maxCharacters = 8_000;
const isAnybodys: ReadonlySet<string> = new Set(['PushedAuthorizationRequest', 'DeviceCode']);

/** Seconds for which these are kept after their expiry, so that a late use is recognized. */
const keptLonger: ReadonlyMap<string, number> = new Map([
  // The device and the user get the error that it has expired (RFC 8628, section 3.5).
  ['DeviceCode', deviceCodeSeconds],
]);

/** The key of a record in the store. */
export const keyOfRecord = (model: string, id: string) => `oidc:${model}:${sha256(id)}`;

const uidKey = (uid: string) => `oidc:uid:${sha256(uid)}`;

/** The key of a pushed request, by the last part of its `request_uri`. */
export const pushedRequestKey = (id: string) => keyOfRecord('PushedAuthorizationRequest', id);

/** The library reads the time of the use from the record. */
const withConsumption = (payload: AdapterPayload, consumedAt: number | null): AdapterPayload =>
  consumedAt === null ? payload : { ...payload, consumed: Math.floor(consumedAt / 1000) };

function toTtlMs(
  model: string,
  payload: AdapterPayload,
  lifetime: { expiresInSeconds: number; nowMs: number },
): number {
  // Without a time to live a record would never be deleted; all these models have one.
  const seconds = lifetime.expiresInSeconds || (payload.exp ?? 0) - lifetime.nowMs / 1000;
  return Math.max(1, (seconds + (keptLonger.get(model) ?? 0)) * 1000);
}

/**
 * Counts a record that a visitor creates.
 * @throws {errors.InvalidRequest} too long; {errors.CustomOIDCProviderError} visitors have stored too much
 */
async function admitRecord(
  visitorGate: ShortLivedAdapterDeps['visitorGate'],
  payload: AdapterPayload,
  { characters, ttlMs }: { characters: number; ttlMs: number },
): Promise<void> {
  if (characters > maxCharacters) throw new errors.InvalidRequest('the request is too long', 413);
  const req = Provider.ctx?.req as Request | undefined;
  // `trusted`: pushed by an authenticated client app. A device code that a user confirms already exists.
  const isStrangers = !Object.is(payload.trusted, true) && payload.accountId === undefined && !payload.inFlight;
  if (!req || !isStrangers) return;
  try {
    await visitorGate.admit(req, req.ip ?? '', { bytes: 1.5 * characters, ttlMs });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const { status, options } = error;
    Provider.ctx?.set('Retry-After', String(toRetrySeconds((options.retryAfterSeconds ?? 60) * 1000)));
    const refusal = new errors.CustomOIDCProviderError('temporarily_unavailable', 'too much is kept already');
    throw Object.assign(refusal, { status, statusCode: status });
  }
}

/** Detects whether a record that the library saves has changed. */
interface SaveTracker {
  /** The content of the store as JSON, as it was just read or written. */
  stored(key: string, json: string): void;
  /** Tests whether saving would only prolong the record by an insignificant time. */
  isStored(key: string, payload: AdapterPayload, ttlSeconds: number): boolean;
  forget(key: string): void;
}

const maxTracked = 5_000;
/** The part of its lifetime by which a record may end early because it was not saved again. */
const hardly = 0.01;

/** @param until in seconds since the epoch */
export const isHardlyLater = ({ exp = 0 }: Pick<AdapterPayload, 'exp'>, until: number, ttlSeconds: number): boolean =>
  until - exp <= ttlSeconds * hardly;

const fingerprint = ({ exp: _, ...rest }: AdapterPayload) => JSON.stringify(rest);

/**
 * The library saves the session at every silent sign-on, although mostly only its end has moved, by seconds of a day or
 * a month. The stored record is then left unchanged. This also keeps a parallel change or end of the session, which the
 * save would undo.
 */
function createSaveTracker(): SaveTracker {
  const known = new Map<string, string>();
  return {
    stored(key, json) {
      known.delete(key);
      if (known.size >= maxTracked) known.clear();
      known.set(key, json);
    },
    isStored(key, payload, ttlSeconds) {
      const json = known.get(key);
      if (json === undefined) return false;
      const before = parsePayload(json);
      return isHardlyLater(before, payload.exp ?? 0, ttlSeconds) && fingerprint(before) === fingerprint(payload);
    },
    forget(key) {
      known.delete(key);
    },
  };
}

/**
 * The adapter of data that a new sign-in can replace: sessions, authorization requests, codes, access tokens. Keys are
 * hashes and payloads are sealed, because the payload contains the bearer's id itself (`security.md`, rule 6).
 * Records of a grant become invalid with its row, which every use looks up. There is no list for deleting them before
 * their expiry, within the hour.
 */
export function shortLivedAdapter(
  model: string,
  { kv, box, now, grants, visitorGate, userCodeSecret }: ShortLivedAdapterDeps,
): Adapter {
  const recordKey = (id: string) => keyOfRecord(model, id);
  const unchanged = model === 'Session' ? createSaveTracker() : undefined;
  const userCodeKey = (userCode: string) =>
    `oidc:user-code:${createHmac('sha256', userCodeSecret).update(userCode).digest('base64url')}`;

  /** The second keys, which point to the record. */
  const listPointers = ({ uid, userCode }: AdapterPayload): string[] => [
    ...(model === 'Session' && uid !== undefined ? [uidKey(uid)] : []),
    ...(userCode === undefined ? [] : [userCodeKey(userCode)]),
  ];

  const open = (key: string, sealed: string): string => box.open(toSealedText(sealed), key);

  async function find(key: string): Promise<AdapterPayload | undefined> {
    const entry = await kv.getConsumable(key);
    if (!entry) return undefined;
    const json = open(key, entry.value);
    unchanged?.stored(key, json);
    return withConsumption(parsePayload(json), entry.consumedAt);
  }

  /** A second key points to the record; it is read back through the record itself, so a stale pointer finds nothing. */
  async function findBy(pointer: string): Promise<AdapterPayload | undefined> {
    const key = await kv.get(pointer);
    return key === null ? undefined : find(key);
  }

  return {
    async upsert(id, payload, expiresInSeconds = 0) {
      const key = recordKey(id);
      if (unchanged?.isStored(key, payload, expiresInSeconds)) return;
      const ttlMs = toTtlMs(model, payload, { expiresInSeconds, nowMs: now() });
      if (insertOnly.has(model)) {
        if (!(await kv.setIfAbsent(key, box.seal(JSON.stringify(payload), key), ttlMs)))
          throw new errors.InvalidRequest('this was used already');
        return;
      }
      if (payload.grantId !== undefined && model !== 'Interaction' && !(await grants.isFound(payload.grantId))) {
        throw new errors.InvalidGrant('grant is gone');
      }
      const json = JSON.stringify(payload);
      if (isAnybodys.has(model)) await admitRecord(visitorGate, payload, { characters: json.length, ttlMs });
      await Promise.all([
        kv.set(key, box.seal(json, key), ttlMs),
        ...listPointers(payload).map((pointer) => kv.set(pointer, key, ttlMs)),
      ]);
      unchanged?.stored(key, json);
    },
    find: (id) => find(recordKey(id)),
    findByUid: (uid) => findBy(uidKey(uid)),
    findByUserCode: (userCode) => findBy(userCodeKey(userCode)),
    async destroy(id) {
      const key = recordKey(id);
      unchanged?.forget(key);
      const value = await kv.takeOnce(key);
      if (value === null) return;
      const payload = parsePayload(open(key, value));
      // Another record may own the second key by now (a session's new id keeps its uid).
      for (const pointer of listPointers(payload)) await kv.compareAndDelete(pointer, key);
    },
    async consume(id) {
      const key = recordKey(id);
      const consumption = await kv.consume(key);
      if (consumption.state === 'consumed') return;
      if (model === 'PushedAuthorizationRequest') throw new errors.InvalidRequestUri('request_uri was already used');
      // One of several parallel redemptions wins; every other one proves a leak (RFC 6749, section 4.1.2).
      if (consumption.state === 'already-used') {
        const { grantId } = parsePayload(open(key, consumption.value));
        if (grantId !== undefined) await grants.revoke(grantId);
      }
      throw new errors.InvalidGrant('already used or unknown');
    },
    // The library revokes the grant with them (`revokeGrantPolicy`): see above.
    revokeByGrantId: async () => undefined,
  };
}

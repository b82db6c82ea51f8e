import { z } from 'zod';
import type { OpenInput, RequestContext } from '../http/index.ts';
import type { DeviceRecognition, Sessions } from '../sessions/index.ts';
import { minuteMs, randomToken, sha256, toSealedText } from '../shared/index.ts';
import type { UserRequest } from '../sign-in/index.ts';
import { type KeyValueStore, parseStored, type SecretBox, storedRecords, UnsealError } from '../store/index.ts';

/** The fields of a form that are kept, with their maximum lengths, as in the form. No secrets. */
export type KeptFields = Readonly<Record<string, number>>;

/**
 * The input of a form whose sender had to authenticate again first: the form shows it when they return. Once, within
 * ten minutes, for the same user in the same browser, in the same form. (Not bound to the session itself, because
 * re-authentication creates a new one.) A user has at most one for each form; a later one replaces an earlier.
 */
export interface FormDrafts {
  /** Stores these fields of the submitted form. */
  saveDraft(r: UserRequest, fields: KeptFields): Promise<void>;
  /**
   * The same for a form whose session has ended elsewhere: for the user who has last signed in in this browser. In a
   * sealed cookie, because visitors must not fill the store. Without effect if there is a session.
   */
  saveSignedOut(r: RequestContext, fields: KeptFields): Promise<void>;
  /** The stored fields for this page, if any. */
  takeDraft(r: UserRequest): Promise<OpenInput | undefined>;
}

const typedSchema = z.record(z.string(), z.string());
const schema = z.object({
  /** SHA-256 of the browser's cookie. */
  browser: z.string(),
  typed: typedSchema,
});
const cookieSchema = z.object({ path: z.string(), owner: z.string(), typed: typedSchema, untilMs: z.number() });

const cookieName = 'foyer_stash';
const signedOutCookie = 'foyer_draft';
const sealedAs = 'draft after a sign-out';
const ttlMs = 10 * minuteMs;
/** Browsers keep cookies of up to 4,096 bytes with name and attributes (RFC 6265bis, section 5.6). */
const maxCookieLength = 3_500;

const toPath = (r: RequestContext) => r.req.originalUrl.split('?', 1)[0] ?? '';

const readFields = (r: RequestContext, fields: KeptFields): OpenInput =>
  Object.fromEntries(Object.entries(fields).map(([name, max]) => [name, r.field(name).slice(0, max)]));

interface FormDraftSettings {
  kv: KeyValueStore;
  /** Seals them: a reader of the store or of the browser's disk must not see a new address or number. */
  contactBox: SecretBox;
  sessions: Pick<Sessions, 'getCurrentUser'>;
  devices: Pick<DeviceRecognition, 'findLastUser' | 'toMark'>;
  now: () => number;
}

export function createFormDrafts({ kv, contactBox: box, sessions, devices, now }: FormDraftSettings): FormDrafts {
  const records = storedRecords({ kv, kind: 'settings-stash', schema, ttlMs, seal: box });
  /** A separate record for each user and page. */
  const toName = (r: UserRequest) => sha256(JSON.stringify([r.user.id, toPath(r)]));

  function takeSignedOut(r: UserRequest): OpenInput | undefined {
    const value = r.cookie(signedOutCookie);
    if (value === undefined) return undefined;
    try {
      const { path, owner, typed, untilMs } = parseStored(cookieSchema, box.open(toSealedText(value), sealedAs));
      if (path !== toPath(r)) return undefined;
      r.clearCookie(signedOutCookie);
      return owner === devices.toMark(r.user.id) && untilMs > now() ? typed : undefined;
    } catch (error) {
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  }

  return {
    async saveDraft(r, fields) {
      const id = randomToken();
      await records.write(toName(r), { browser: sha256(id), typed: readFields(r, fields) });
      r.setCookie(cookieName, id, { maxAgeMs: ttlMs });
    },
    async saveSignedOut(r, fields) {
      const owner = devices.findLastUser(r.req);
      if (owner === undefined || (await sessions.getCurrentUser(r.req))) return;
      const draft = { path: toPath(r), owner, typed: readFields(r, fields), untilMs: now() + ttlMs };
      const value = box.seal(JSON.stringify(draft), sealedAs);
      if (value.length <= maxCookieLength) r.setCookie(signedOutCookie, value, { maxAgeMs: ttlMs });
    },
    async takeDraft(r) {
      const id = r.cookie(cookieName);
      if (id === undefined) return takeSignedOut(r);
      // One of two parallel reads gets it.
      const taken = await records.takeMatching(toName(r), ({ browser }) => browser === sha256(id));
      if (!taken) return takeSignedOut(r);
      r.clearCookie(cookieName);
      return taken.typed;
    },
  };
}

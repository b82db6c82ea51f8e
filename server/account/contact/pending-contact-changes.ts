import type { Request, Response } from 'express';
import { z } from 'zod';
import type { HostCookies } from '../../http/index.ts';
import { resendWaitMs } from '../../messages/index.ts';
import {
  type E164,
  e164Schema,
  type FlowId,
  flowIdSchema,
  minuteMs,
  type NormalisedEmail,
  normalisedEmailSchema,
  type SessionIdHash,
  sha256,
  toSealedText,
  userIdSchema,
} from '../../shared/index.ts';
import { browserRecords, type KeyValueStore, parseStored, type SecretBox } from '../../store/index.ts';
import type { User } from '../../users/index.ts';

const commonFields = {
  userId: userIdSchema,
  /** Epoch of the password at the start: a new password invalidates the change. */
  passwordEpoch: z.number(),
  /** The address belongs to another user: no code was sent, and none is valid. */
  decoy: z.boolean(),
  /** Time of the last code. */
  sentAtMs: z.number(),
  /** The final expiry; further codes do not extend it. */
  endsAtMs: z.number(),
};

/** `to` is the address or number that must be proven. */
const schema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('email'), to: normalisedEmailSchema, ...commonFields }),
  z.object({ kind: z.literal('phone'), to: e164Schema, ...commonFields }),
]);

/** A change that waits for its code: of one browser, or of one caller of the JSON API. */
export type PendingContactChange = z.infer<typeof schema>;
export type ContactChangeKind = PendingContactChange['kind'];
/** A change of one kind. */
export type PendingChangeByKind<Kind extends ContactChangeKind> = Extract<PendingContactChange, { kind: Kind }>;
type Target = { kind: 'email'; to: NormalisedEmail } | { kind: 'phone'; to: E164 };

export interface PendingContactChanges {
  /** Its id is a secret of the browser or caller that started it. */
  begin<To extends Target>(
    target: To,
    user: User,
  ): Promise<{ id: FlowId; flow: To & Omit<PendingContactChange, keyof Target> }>;
  /** This user's, only while the password of its start is unchanged. */
  find<Kind extends ContactChangeKind>(
    kind: Kind,
    id: FlowId,
    user: User,
  ): Promise<PendingChangeByKind<Kind> | undefined>;
  /**
   * Holds a number for the first of several forms that a browser sends at once: one atomic operation of the store
   * decides. @returns the change that sends the code; of a later form it is that of the first
   */
  hold(id: FlowId, flow: PendingContactChange, browser: SessionIdHash): Promise<FlowId>;
  /** Updates a live change without extending it. */
  update(id: FlowId, flow: PendingContactChange): Promise<void>;
  end(id: FlowId): Promise<void>;
  /** The browser's own, '' without one. */
  readChangeCookie(req: Request, kind: ContactChangeKind): FlowId;
  setChangeCookie(res: Response, kind: ContactChangeKind, id: FlowId): void;
  clearChangeCookie(res: Response, kind: ContactChangeKind): void;
}

const isOfKind = <Kind extends ContactChangeKind>(
  flow: PendingContactChange,
  kind: Kind,
): flow is PendingChangeByKind<Kind> => flow.kind === kind;

const holdSchema = z.object({ id: flowIdSchema, untilMs: z.number() });
/** Another process may end the hold between two operations. */
const holdAttempts = 3;

/** Enough for two or three codes, if the first does not arrive. */
const ttlMs = 30 * minuteMs;

interface Settings {
  kv: KeyValueStore;
  cookies: HostCookies;
  /** Seals the records. */
  contactBox: SecretBox;
  now: () => number;
}

export function createPendingContactChanges({ kv, cookies, contactBox, now }: Settings): PendingContactChanges {
  const recordsWith = (name: string) =>
    browserRecords({
      kv,
      kind: 'contact-flow',
      schema,
      ttlMs,
      seal: contactBox,
      cookie: { cookies, name, maxAgeMs: ttlMs },
    });
  const records = { email: recordsWith('foyer_new_email'), phone: recordsWith('foyer_new_phone') };
  return {
    async begin(target, { id: userId, passwordEpoch }) {
      const times = { sentAtMs: now(), endsAtMs: now() + ttlMs };
      const flow = { ...target, userId, passwordEpoch, decoy: false, ...times };
      return { id: await records[target.kind].create(flow), flow };
    },
    async find(kind, id, user) {
      const flow = await records[kind].find(id);
      if (!flow || !isOfKind(flow, kind)) return undefined;
      const belongsToUser = flow.userId === user.id && flow.passwordEpoch === user.passwordEpoch;
      return belongsToUser && now() < flow.endsAtMs ? flow : undefined;
    },
    async hold(id, { kind, userId, to }, browser) {
      const key = `contact-hold:${sha256(JSON.stringify([userId, browser, to]))}`;
      for (let attempt = 0; attempt < holdAttempts; attempt += 1) {
        const own = contactBox.seal(JSON.stringify({ id, untilMs: now() + resendWaitMs }), key);
        if (await kv.setIfAbsent(key, own, resendWaitMs)) return id;
        const text = await kv.get(key);
        if (text === null) continue;
        const held = parseStored(holdSchema, contactBox.open(toSealedText(text), key));
        if (held.untilMs > now() && (await records[kind].find(held.id)) !== undefined) return held.id;
        await kv.compareAndDelete(key, text);
      }
      return id;
    },
    update: (id, flow) => records[flow.kind].update(id, flow),
    async end(id) {
      await records.email.delete(id);
    },
    readChangeCookie: (req, kind) => records[kind].readCookie(req),
    setChangeCookie: (res, kind, id) => records[kind].setCookie(res, id),
    clearChangeCookie: (res, kind) => records[kind].clearCookie(res),
  };
}

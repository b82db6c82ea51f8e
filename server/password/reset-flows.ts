import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import type { User } from '../account/index.ts';
import type { HostCookies } from '../http/index.ts';
import { type KeyValueStore, sha256 } from '../store/index.ts';

/** The way of one browser (or of one caller of the JSON API) from a forgotten password to a new one. No addresses in it. */
export interface ResetFlow {
  /** SHA-256 of what was typed, normalised. */
  account: string;
  /** Null: there is no such member, and whoever asked is not told. */
  user: { id: string; emailHash: string; passwordEpoch: number } | null;
  /** The device from which the member has signed in before, when this is one. */
  device?: string | undefined;
  /** Until when the code need not be shown again: it was right, but what came with it could not be used. */
  provenUntilMs?: number | undefined;
  /** When the last code was sent. */
  sentAtMs: number;
}

/**
 * Flows by their ids, which are secrets: a code is worth nothing without the id of the flow that asked for it. Each asking
 * makes a new one, so that an id that was planted in a browser leads nowhere.
 */
export interface ResetFlows {
  begin(flow: ResetFlow): Promise<string>;
  find(id: string): Promise<ResetFlow | undefined>;
  /** Changes one that lives; it lives no longer by that. */
  keep(id: string, flow: ResetFlow): Promise<void>;
  end(id: string): Promise<void>;
  /** The browser's own, '' without one. */
  idOf(req: Request): string;
  giveTo(res: Response, id: string): void;
  takeFrom(res: Response): void;
}

const cookieName = 'foyer_reset';
const keptMs = 60 * 60_000;
/** What else is sent is none. */
const idPattern = /^[\w-]{43}$/;

export function createResetFlows(kv: KeyValueStore, cookies: HostCookies): ResetFlows {
  const keyOf = (id: string) => `reset-flow:${sha256(id)}`;
  return {
    async begin(flow) {
      const id = randomBytes(32).toString('base64url');
      await kv.set(keyOf(id), JSON.stringify(flow), keptMs);
      return id;
    },
    async find(id) {
      const text = idPattern.test(id) ? await kv.get(keyOf(id)) : null;
      return text === null ? undefined : (JSON.parse(text) as ResetFlow);
    },
    async keep(id, flow) {
      await kv.update(keyOf(id), JSON.stringify(flow));
    },
    async end(id) {
      if (idPattern.test(id)) await kv.delete(keyOf(id));
    },
    idOf: (req) => cookies.read(req, cookieName) ?? '',
    giveTo: (res, id) => cookies.set(res, cookieName, id, { maxAgeMs: keptMs }),
    takeFrom: (res) => cookies.clear(res, cookieName),
  };
}

/** What a flow remembers of a member: any other password or address since, and it is dead. */
export const ownerOf = ({ id, email, passwordEpoch }: User): NonNullable<ResetFlow['user']> => ({
  id,
  emailHash: sha256(email),
  passwordEpoch,
});

/** Whether the member is still the one for whom the flow began, and may have a new password. */
export function isStillTheirs({ user }: ResetFlow, member: User | undefined): member is User {
  if (!user || !member || member.disabledAt !== null) return false;
  const { id, emailHash, passwordEpoch } = ownerOf(member);
  return id === user.id && emailHash === user.emailHash && passwordEpoch === user.passwordEpoch;
}

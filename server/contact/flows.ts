import type { Request, Response } from 'express';
import type { User } from '../account/index.ts';
import type { HostCookies } from '../http/index.ts';
import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore, SecretBox } from '../store/index.ts';

export type FlowKind = 'email' | 'phone';

/** A change that waits for its code: of one browser, or of one caller of the JSON API. */
export interface ContactFlow {
  kind: FlowKind;
  userId: string;
  /** The password under which it was begun: any other since, and it is dead. */
  passwordEpoch: number;
  /** The address or number that is to be shown to be theirs. */
  to: string;
  /** The address is another member's: no code went there, and none opens anything. */
  decoy: boolean;
  /** When the last code was sent. */
  sentAtMs: number;
  /** When it ends, whatever is sent again. */
  endsAtMs: number;
}

export interface ContactFlows {
  /** Its id is a secret of whoever began it. */
  begin(kind: FlowKind, user: User, to: string): Promise<{ id: string; flow: ContactFlow }>;
  /** This member's, and only as long as what they showed when they began it still holds. */
  find(kind: FlowKind, id: string, user: User): Promise<ContactFlow | undefined>;
  /** Changes one that lives; it lives no longer by that. */
  keep(id: string, flow: ContactFlow): Promise<void>;
  end(id: string): Promise<void>;
  /** The browser's own, '' without one. */
  idOf(req: Request, kind: FlowKind): string;
  giveTo(res: Response, kind: FlowKind, id: string): void;
  takeFrom(res: Response, kind: FlowKind): void;
}

/** For two or three codes, should the first not arrive. */
const keptMs = 30 * 60_000;
const cookieOf = (kind: FlowKind) => `foyer_new_${kind}`;
/** What else is sent is none. */
const idPattern = /^[\w-]{43}$/;

export function createContactFlows(
  kv: KeyValueStore,
  cookies: HostCookies,
  box: SecretBox,
  now: () => number,
): ContactFlows {
  const keyOf = (id: string) => `contact-flow:${sha256(id)}`;
  const seal = (key: string, flow: ContactFlow) => box.seal(JSON.stringify(flow), key);
  return {
    async begin(kind, { id: userId, passwordEpoch }, to) {
      const id = randomToken();
      const key = keyOf(id);
      const times = { sentAtMs: now(), endsAtMs: now() + keptMs };
      const flow: ContactFlow = { kind, userId, passwordEpoch, to, decoy: false, ...times };
      await kv.set(key, seal(key, flow), keptMs);
      return { id, flow };
    },
    async find(kind, id, user) {
      const key = keyOf(id);
      const sealed = idPattern.test(id) ? await kv.get(key) : null;
      if (sealed === null) return undefined;
      const flow: ContactFlow = JSON.parse(box.open(sealed, key));
      const theirs = flow.kind === kind && flow.userId === user.id && flow.passwordEpoch === user.passwordEpoch;
      return theirs && now() < flow.endsAtMs ? flow : undefined;
    },
    async keep(id, flow) {
      const key = keyOf(id);
      await kv.update(key, seal(key, flow));
    },
    async end(id) {
      if (idPattern.test(id)) await kv.delete(keyOf(id));
    },
    idOf: (req, kind) => cookies.read(req, cookieOf(kind)) ?? '',
    giveTo: (res, kind, id) => cookies.set(res, cookieOf(kind), id, { maxAgeMs: keptMs }),
    takeFrom: (res, kind) => cookies.clear(res, cookieOf(kind)),
  };
}

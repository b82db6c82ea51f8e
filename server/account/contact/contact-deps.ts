import type { Transaction } from 'kysely';
import type { HostCookies, Logger } from '../../http/index.ts';
import type { Codes, Outbox, SmsSender } from '../../messages/index.ts';
import type { PasswordDeps } from '../../password/index.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { UserId } from '../../shared/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../../store/index.ts';
import { createPendingContactChanges, type PendingContactChanges } from './pending-contact-changes.ts';

/** Dependencies of changes of addresses and numbers. */
export interface ContactDeps {
  publicUrl: string;
  brandName: string;
  database: Database;
  kv: KeyValueStore;
  codes: Codes;
  outbox: Outbox;
  texts: SmsSender;
  /** Without text messages no number can be confirmed, so none is accepted. */
  smsOffered: boolean;
  flows: PendingContactChanges;
  sessions: Pick<Sessions, 'endAll'>;
  /** For the new password of an undo. */
  password: Pick<PasswordDeps, 'passwords' | 'policy' | 'kv' | 'limits'>;
  /** Functions of other modules for an undo: they remove whatever can sign in and was added since. */
  revertContactChange: readonly RevertContactChange[];
  log: Logger;
  now: () => number;
}

type RevertContactChange = (
  trx: Transaction<Schema>,
  since: { userId: UserId; sinceMs: number; nowMs: number },
) => Promise<unknown>;

/** The dependencies from `wiring.ts`. */
type ContactSettings = Omit<ContactDeps, 'flows'> & {
  cookies: HostCookies;
  /** Seals the data of a change between its two steps. */
  contactBox: SecretBox;
};

export function createContactDeps({ cookies, contactBox, ...common }: ContactSettings): ContactDeps {
  const { kv, now } = common;
  return { ...common, flows: createPendingContactChanges({ kv, cookies, contactBox, now }) };
}

import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import type { UpstreamIdentity } from './identity.ts';
import { findIdentity, insertImportedIdentity } from './identity-store.ts';
import type { Providers } from './providers.ts';
import { updateRequiredSecondFactor } from './required-second-factor.ts';

/** A member's identity at a provider, as another service knew it. */
export type LinkedSubject = Pick<UpstreamIdentity, 'kind' | 'issuer' | 'subject' | 'provider'> & { linkedAtMs: number };

/**
 * Links what another service had linked. A subject that is linked here stays with its member.
 * @returns those that were left out because they are linked already
 */
export async function linkImported(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  { userId, subjects }: { userId: string; subjects: readonly LinkedSubject[] },
  nowMs: number,
): Promise<LinkedSubject[]> {
  const taken: LinkedSubject[] = [];
  for (const subject of subjects) if (!(await insertImportedIdentity(trx, userId, subject))) taken.push(subject);
  if (taken.length < subjects.length) await updateRequiredSecondFactor(trx, providers, userId, nowMs);
  return taken;
}

/** Whether a subject is linked here, whoever has it; nothing is changed. */
export const isLinked = async (db: Kysely<Schema>, subject: LinkedSubject): Promise<boolean> =>
  (await findIdentity(db, subject)) !== undefined;

import type { Kysely, Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import type { UpstreamIdentity } from './identity.ts';
import { findIdentity, insertImportedIdentity } from './identity-store.ts';
import type { Providers } from './providers.ts';
import { updateRequiredSecondFactor } from './required-second-factor.ts';

/** A user's identity at a provider, as another service knew it. */
export type LinkedSubject = Pick<UpstreamIdentity, 'kind' | 'issuer' | 'subject' | 'provider'> & { linkedAtMs: number };

/**
 * Imports links from another service. A subject that is already linked keeps its user.
 * @returns those that were skipped because they are already linked
 */
export async function linkImported(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  { userId, subjects, nowMs }: { userId: UserId; subjects: readonly LinkedSubject[]; nowMs: number },
): Promise<LinkedSubject[]> {
  const taken: LinkedSubject[] = [];
  for (const subject of subjects) if (!(await insertImportedIdentity(trx, userId, subject))) taken.push(subject);
  if (taken.length < subjects.length) await updateRequiredSecondFactor(trx, providers, { userId, nowMs });
  return taken;
}

/** Tests whether a subject is linked to any user; changes nothing. */
export const isLinked = async (db: Kysely<Schema>, subject: LinkedSubject): Promise<boolean> =>
  (await findIdentity(db, subject)) !== undefined;

import type { RequestContext } from '../http/index.ts';
import type { ClientAuthorizations, PendingAuthorization } from './deps.ts';

/** The pending authorization request of the address; undefined if it names none, or none of this browser. */
export async function findPending(
  { req, continuation: { authorization } }: RequestContext,
  { findPendingAuthorization }: Pick<ClientAuthorizations, 'findPendingAuthorization'>,
): Promise<PendingAuthorization | undefined> {
  return authorization === undefined ? undefined : findPendingAuthorization(req, authorization);
}

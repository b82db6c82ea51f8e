import type { Request } from 'express';
import { callingMember, currentUser, type User } from '../account/index.ts';
import { HttpError, retrySeconds } from '../http/index.ts';
import type { Database } from '../store/index.ts';
import { findMembership, findMembershipOf, findMembershipOfSubscription } from './membership-store.ts';
import { BillingUnavailable } from './results.ts';
import type { Membership } from './standing.ts';

/** The specification's texts for calls that fail (section 8). */
export const failed = {
  create: 'stripe customer creation error !',
  update: 'stripe customer updation error !',
  retrieve: 'Subscription retrieval failed!',
  order: 'Something went wrong!',
} as const;

/** Nothing is sold to a subscription that the operator has paused. */
export const refusePaused = (): HttpError =>
  new HttpError('conflict', { said: 'The membership is paused', detail: 'the subscription is paused' });

const awaySeconds = 5;

/** What Stripe does not answer is told in the specification's words. @throws {HttpError} 503 */
export async function orAway<T>(said: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof BillingUnavailable)) throw error;
    throw new HttpError('unavailable', { said, detail: error.message, retryAfterSeconds: awaySeconds, cause: error });
  }
}

export const tooMany = (retryAfterMs: number) =>
  new HttpError('tooMany', { detail: 'too many cards or codes', retryAfterSeconds: retrySeconds(retryAfterMs) });

export type Owned = Membership & { customerId: string };
export const hasCustomer = (membership: Membership | undefined): membership is Owned =>
  membership !== undefined && membership.customerId !== null;

/**
 * Whose customer or subscription a call names: a member's own, a client app's by what it names. Another member's is as good as
 * none, so that nobody learns which there are.
 * @throws {HttpError} 404
 */
export async function ownerOf(
  req: Request,
  database: Database,
  { customerId, subscriptionId }: { customerId?: string; subscriptionId?: string },
): Promise<{ user: User; membership: Owned }> {
  const missing = new HttpError('notFound', { said: failed.retrieve, detail: 'no such customer or subscription' });
  const member = await callingMember(req, database);
  let membership: Membership | undefined;
  if (member) membership = await findMembership(database.db, member.id);
  else if (customerId !== undefined) membership = await findMembershipOf(database.db, customerId);
  else if (subscriptionId !== undefined) membership = await findMembershipOfSubscription(database.db, subscriptionId);
  if (!hasCustomer(membership)) throw missing;
  if (customerId !== undefined && membership.customerId !== customerId) throw missing;
  if (subscriptionId !== undefined && membership.subscriptionId !== subscriptionId) throw missing;
  const user = member ?? (await currentUser(database, membership.userId));
  if (!user || user.disabledAt !== null) throw missing;
  return { user, membership };
}

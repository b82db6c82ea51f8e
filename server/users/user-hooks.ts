import type { Transaction } from 'kysely';
import type { Language } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import { runInTurn, type Subscribers, type UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import type { User } from './user.ts';

/** A user who has just signed up, or whose address was confirmed for the first time. */
export interface CreatedUser {
  readonly user: User;
  readonly lang: Language;
  /** The name of the provider with which they signed up. */
  readonly provider?: string | undefined;
  /** The flow in which the address was confirmed: the trial differs. */
  readonly flow: 'sign-up' | 'post-sign-up';
}

/** Events of users. `wiring.ts` lists the subscribers. */
export interface UserHooks {
  /** In the transaction that creates or confirms the user. */
  onUserCreated(trx: Transaction<Schema>, created: CreatedUser): Promise<void>;
  /** After that transaction; subscribers only start what a job would do later. */
  afterUserCreated(userId: UserId): Promise<void>;
}

export type UserSubscribers = { readonly [Event in keyof UserHooks]: Subscribers<UserHooks[Event]> };

/** Hooks without subscribers; `subscribe` sets those of the given events. */
export function createUserHooks(): UserHooks & { subscribe(listed: Partial<UserSubscribers>): void } {
  const all: { [Event in keyof UserHooks]: Subscribers<UserHooks[Event]> } = {
    onUserCreated: {},
    afterUserCreated: {},
  };
  return {
    subscribe: (listed) => void Object.assign(all, listed),
    onUserCreated: (trx, created) => runInTurn(all.onUserCreated, trx, created),
    afterUserCreated: (userId) => runInTurn(all.afterUserCreated, userId),
  };
}

/** The welcome mail; the caller wakes the outbox after the transaction. */
export async function mailWelcome(
  outbox: Outbox,
  trx: Transaction<Schema>,
  { user: { email, givenName }, lang, provider }: CreatedUser,
): Promise<void> {
  const values = { givenName, ...(provider !== undefined && { provider }) };
  await outbox.add(trx, { channel: 'mail', to: email, template: 'welcome', lang, values });
}

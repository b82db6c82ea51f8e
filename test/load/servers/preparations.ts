/** What some measurements need in Foyer's stores besides its members. */
import type * as PlansModule from '../../../config/plans.ts';
import type * as BillingModule from '../../../server/billing/index.ts';
import type * as DepsModule from '../../../server/deps.ts';
import type * as MfaModule from '../../../server/mfa/index.ts';
import type * as UsersModule from '../../../server/users/index.ts';
import { built } from '../built.ts';
import { authenticatorSecret, memberEmail } from '../setting.ts';

type Deps = DepsModule.Deps;

async function memberOf({ database }: Deps, index: number): Promise<UsersModule.User> {
  const { findUserByIdentifier } = await built<typeof UsersModule>('server/users/index');
  const user = await findUserByIdentifier(database.db, { email: memberEmail(index) });
  if (!user) throw new Error(`there is no member ${index}`);
  return user;
}

/** The first `count` members sign in with an authenticator app from now on. */
export async function addAuthenticators(deps: Deps, count: number): Promise<void> {
  const { upsertTotp } = await built<typeof MfaModule>('server/mfa/index');
  const { setMfaPreference } = await built<typeof UsersModule>('server/users/index');
  const nowMs = deps.now();
  for (let index = 0; index < count; index += 1) {
    const { id: userId } = await memberOf(deps, index);
    const totp = { userId, secret: authenticatorSecret, lastStep: 0, createdAt: nowMs };
    await deps.database.transaction(async (trx) => {
      await upsertTotp(trx, deps.boxes.mfa, totp);
      await setMfaPreference(trx, userId, { preference: 'totp', nowMs });
    });
  }
}

/** Gives the first `count` members a user record. @returns their ids */
export async function addRecords(deps: Deps, count: number): Promise<string[]> {
  const { insertUserRecord } = await built<typeof UsersModule>('server/users/index');
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { id } = await memberOf(deps, index);
    await deps.database.transaction((trx) => insertUserRecord(trx, id, deps.now()));
    ids.push(id);
  }
  return ids;
}

/** Writes the shipped plans to Stripe. */
export async function sellPlans({ config }: Deps): Promise<void> {
  const { createCatalogue, createStripe, syncPlans } = await built<typeof BillingModule>('server/billing/index');
  const { loadPlans } = await built<typeof PlansModule>('config/plans');
  const { STRIPE_SECRET_KEY: secretKey = '', STRIPE_API_URL: apiUrl } = config;
  await syncPlans(createStripe({ secretKey, apiUrl }), createCatalogue(loadPlans()));
}

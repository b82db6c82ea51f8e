import type { Holding } from '../leaving/index.ts';
import type { Database } from '../store/index.ts';
import { eraseGrants, grantsOf } from './member-grants-store.ts';

/** What client apps were given of a member. */
export const oauthHolding = ({ db }: Database): Holding => ({
  name: 'clientApps',
  tell: ({ id }) => grantsOf(db, id),
  erase: (trx, { id }) => eraseGrants(trx, id),
});

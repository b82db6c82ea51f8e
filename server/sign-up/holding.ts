import type { Holding } from '../leaving/index.ts';
import type { Database } from '../store/index.ts';
import { eraseSignUps, signUpsOf } from './sign-up-store.ts';

/** What is kept of accounts that were begun with a member's address. */
export const signUpHolding = ({ db }: Database): Holding => ({
  name: 'signUps',
  tell: (user) => signUpsOf(db, user),
  erase: (trx, user) => eraseSignUps(trx, user),
});

import type { Database } from '../store/index.ts';
import type { PersonalDataSource } from '../users/index.ts';
import { eraseSignUps, listSignUps } from './sign-up-store.ts';

/** The stored sign-ups with a user's address. */
export const signUpDataSource = ({ db }: Database): PersonalDataSource => ({
  name: 'signUps',
  exportData: (user) => listSignUps(db, user),
  erase: (trx, user) => eraseSignUps(trx, user),
});

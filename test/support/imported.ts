import { listErasedUsers } from '../../server/account/index.ts';
import { type ImportedUser, insertImportedUsers } from '../../server/users/index.ts';
import type { TestFoyer } from './foyer.ts';
import { toNormalisedEmail, toUserId } from './ids.ts';
import { emptyProfile } from './profile.ts';

let members = 0;
/** Adds a user like `foyer user import`. */
export async function imported(foyer: TestFoyer, change: Partial<ImportedUser> = {}): Promise<ImportedUser> {
  members += 1;
  const member: ImportedUser = {
    id: toUserId(`0000000${members % 10}-4c7f-4c7f-8c7f-${Date.now().toString(16).padStart(12, '0')}`),
    email: toNormalisedEmail(`moved${members}@example.com`),
    emailVerified: true,
    phone: null,
    phoneVerified: false,
    passwordHash: null,
    passwordProfile: null,
    givenName: 'Grace',
    familyName: 'Hopper',
    ...emptyProfile,
    acceptedTosVersion: 1,
    picture: null,
    preferredLanguage: null,
    gender: '0',
    newsletter: false,
    mfaPreference: 'none',
    disabledAt: null,
    createdAt: 1_600_000_000_000,
    ...change,
  };
  const [outcome] = await foyer.stores.database.transaction((trx) =>
    insertImportedUsers(trx, [member], { nowMs: foyer.deps.now(), listErasedUsers }),
  );
  if (outcome?.kind !== 'added') throw new Error(`not added: ${JSON.stringify(outcome)}`);
  return member;
}

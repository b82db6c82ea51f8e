import { insertUser, type TermsVersion } from '../account/index.ts';
import { clientMetadata, findClient, insertClient, updateClient } from '../oauth/index.ts';
import type { PasswordHasher } from '../password/index.ts';
import type { Database } from '../store/index.ts';

export const demoMember = {
  email: 'vera@example.com',
  password: 'open sesame 7',
  givenName: 'Vera',
  familyName: 'Lindqvist',
};
export const demoClientId = 'demo-app';

/** Puts the demo member and the demo client app where they are missing. */
export async function seedSandbox(
  {
    database,
    passwords,
    terms,
    now,
  }: { database: Database; passwords: PasswordHasher; terms: TermsVersion; now: () => number },
  demoOrigin: string,
): Promise<void> {
  const member = await database.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', demoMember.email)
    .executeTakeFirst();
  if (!member) {
    const passwordHash = await passwords.hash(demoMember.password);
    await database.transaction((trx) =>
      insertUser(trx, { ...demoMember, passwordHash, emailVerified: true, acceptedTosVersion: terms.number }, now()),
    );
  }
  const client = clientMetadata(
    {
      id: demoClientId,
      name: 'Demo app',
      redirectUris: [`${demoOrigin}/callback`],
      logoutUris: [`${demoOrigin}/`],
      logbackUri: `${demoOrigin}/sign-in`,
      public: true,
      scopes: ['openid', 'profile', 'email', 'phone'],
    },
    { development: true },
  );
  const known = await findClient(database.db, demoClientId);
  if (!known) await insertClient(database.db, client, null, now());
  // The port may be another one this time.
  else if (JSON.stringify(known) !== JSON.stringify(client)) await updateClient(database.db, client, null, now());
}

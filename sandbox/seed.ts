import { assignBasePlan, type Catalogue } from '../server/billing/index.ts';
import { type ClientMetadata, clientMetadata, findClient, insertClient, updateClient } from '../server/oidc/index.ts';
import type { PasswordHasher } from '../server/password/index.ts';
import { toClientId, toNormalisedEmail } from '../server/shared/index.ts';
import type { Database } from '../server/store/index.ts';
import {
  AlreadyInUseError,
  findUserByIdentifier,
  insertUser,
  insertUserRecord,
  type TermsVersion,
} from '../server/users/index.ts';

export const demoMember = {
  email: toNormalisedEmail('vera@example.com'),
  password: 'open sesame 7',
  givenName: 'Vera',
  familyName: 'Lindqvist',
};
export const demoClientId = 'demo-app';
export const televisionClientId = 'demo-television';

type Seeds = {
  database: Database;
  passwords: PasswordHasher;
  terms: TermsVersion;
  catalogue: Catalogue;
  now: () => number;
};

/** Each process of a sandbox has a demo app on its own port; the newest of them are remembered. */
const maxDemoApps = 10;

/** Creates the demo user and the demo client app if they are missing; several processes may do so at once. */
export async function seedSandbox(seeds: Seeds, demoOrigin: string): Promise<void> {
  await seedMember(seeds);
  await seedClient(seeds, demoOrigin);
}

async function seedMember({ database, passwords, terms, catalogue, now }: Seeds): Promise<void> {
  if (await findUserByIdentifier(database.db, { email: demoMember.email })) return;
  const passwordHash = await passwords.hash(demoMember.password, 'operator');
  const member = { ...demoMember, passwordHash, emailVerified: true, acceptedTosVersion: terms.number };
  try {
    const id = await database.transaction(async (trx) => {
      const added = await insertUser(trx, member, now());
      await insertUserRecord(trx, added.id, now());
      return added.id;
    });
    // Nothing was bought with it, so every other plan can be.
    const free = catalogue.plans.find(({ kind }) => kind === 'free');
    if (free) await assignBasePlan({ database, catalogue, now }, { userId: id, plan: free });
  } catch (error) {
    if (!(error instanceof AlreadyInUseError)) throw error;
  }
}

async function seedClient({ database, now }: Seeds, demoOrigin: string): Promise<void> {
  const newestFirst = (ownUri: string, others: string[] = []) =>
    [...new Set([ownUri, ...others])].slice(0, maxDemoApps);
  const metadataWith = (known?: ClientMetadata) =>
    clientMetadata(
      {
        id: demoClientId,
        name: 'Demo app',
        redirectUris: newestFirst(`${demoOrigin}/callback`, known?.redirect_uris),
        logoutUris: newestFirst(`${demoOrigin}/`, known?.post_logout_redirect_uris),
        logbackUri: `${demoOrigin}/sign-in`,
        public: true,
        scopes: ['openid', 'profile', 'email', 'phone', 'membership'],
        // Its page shows what an id token can hold.
        idTokenClaims: true,
      },
      { development: true },
    );
  const television = clientMetadata(
    {
      id: televisionClientId,
      name: 'Demo television',
      redirectUris: [],
      device: true,
      public: true,
      scopes: ['openid', 'profile', 'email'],
      // The dashboard does not list it.
      hidden: true,
    },
    { development: true },
  );
  await database.transaction(async (trx) => {
    await insertClient(trx, television, { secret: null, nowMs: now() });
    if (await insertClient(trx, metadataWith(), { secret: null, nowMs: now() })) return;
    const known = await findClient(trx, toClientId(demoClientId));
    const client = metadataWith(known);
    if (JSON.stringify(known) !== JSON.stringify(client))
      await updateClient(trx, client, { secret: null, nowMs: now() });
  });
}

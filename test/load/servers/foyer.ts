/**
 * The product in its production configuration, as `server/start.ts` starts it, but listening only on this machine and
 * with the users and client app of the measurement.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type * as AppModule from '../../../server/app.ts';
import type * as DepsModule from '../../../server/deps.ts';
import type * as OidcModule from '../../../server/oidc/index.ts';
import type * as StoreModule from '../../../server/store/index.ts';
import type * as UsersModule from '../../../server/users/index.ts';
import { toClientId, toE164, toNormalisedEmail } from '../../support/ids.ts';
import { built } from '../built.ts';
import { serve } from '../rpc.ts';
import { client, type Listening, memberEmail, password, redirectUri, usage } from '../setting.ts';
import { listen } from './listen.ts';
import { addAuthenticators, addRecords, sellPlans } from './preparations.ts';

/** Adds those that are not there: generated stores have them already. */
async function addMembers(deps: DepsModule.Deps, count: number): Promise<void> {
  const { findUserByIdentifier, insertUser } = await built<typeof UsersModule>('server/users/index');
  // All users share one hash, because making hashes is not measured.
  const passwordHash = await deps.passwords.hash(password, 'operator');
  await deps.database.transaction(async (trx) => {
    for (let index = 0; index < count; index += 1) {
      if (await findUserByIdentifier(trx, { email: memberEmail(index) })) continue;
      const member = {
        email: memberEmail(index),
        givenName: 'Ada',
        familyName: `Member${index}`,
        phone: toE164(`+4915550${100_000 + index}`),
        phoneVerified: true,
        passwordHash,
        emailVerified: true,
        acceptedTosVersion: deps.terms.number,
      };
      await insertUser(trx, member, deps.now());
    }
  });
}

async function addClient({ database, now }: DepsModule.Deps): Promise<void> {
  const { clientMetadata, findClient, insertClient } = await built<typeof OidcModule>('server/oidc/index');
  if (await findClient(database.db, toClientId(client.id))) return;
  const metadata = clientMetadata(
    { id: client.id, name: 'Bench app', redirectUris: [redirectUri], idTokenAlg: 'ES256', idTokenClaims: true },
    { development: false },
  );
  await insertClient(database.db, metadata, { secret: client.secret, nowMs: now() });
}

let opened: DepsModule.Deps | undefined;
function running(): DepsModule.Deps {
  if (!opened) throw new Error('not started');
  return opened;
}

/** Users by their addresses; imported users come from another service and have no password yet. */
async function addNamed({ emails, imported = false }: { emails: string[]; imported?: boolean }): Promise<void> {
  const deps = running();
  const { insertUser } = await built<typeof UsersModule>('server/users/index');
  const passwordHash = imported ? null : await deps.passwords.hash(password, 'operator');
  await deps.database.transaction(async (trx) => {
    for (const email of emails) {
      const common = {
        email: toNormalisedEmail(email),
        givenName: 'Ada',
        familyName: 'Member',
        passwordHash,
        emailVerified: true,
      };
      const { id } = await insertUser(trx, { ...common, acceptedTosVersion: deps.terms.number }, deps.now());
      if (imported) await trx.updateTable('users').set({ importedAt: deps.now() }).where('id', '=', id).execute();
    }
  });
}

/** Registers client apps that act for themselves. */
async function addServices({ ids, scope }: { ids: string[]; scope: string }): Promise<void> {
  const { database, now } = running();
  const { clientMetadata, insertClient } = await built<typeof OidcModule>('server/oidc/index');
  for (const id of ids) {
    const metadata = clientMetadata(
      { id, name: id, redirectUris: [], service: true, scopes: [scope] },
      { development: false },
    );
    await insertClient(database.db, metadata, { secret: client.secret, nowMs: now() });
  }
}

/** Starts to deliver the outbox, as every process of the product does. */
function deliver(): void {
  running().outboxWorker.start();
}

async function start({ members }: { members: number }): Promise<Listening> {
  const { createDeps } = await built<typeof DepsModule>('server/deps');
  const { createApp } = await built<typeof AppModule>('server/app');
  const { migrate } = await built<typeof StoreModule>('server/store/index');
  const { deps, extensions } = await createDeps(process.env);
  opened = deps;
  await migrate(deps.database);
  await addMembers(deps, members);
  await addClient(deps);
  const { app } = await createApp(deps, extensions);
  return listen(app);
}

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

/** How late the event loop was since the call before, in milliseconds. */
function lateness(): { p50: number; p99: number } {
  const [p50 = 0, p99 = 0] = [50, 99].map((part) => delay.percentile(part) / 1e6);
  delay.reset();
  return { p50, p99 };
}

const handlers = {
  start,
  lateness,
  usage,
  addNamed,
  addServices,
  deliver,
  addAuthenticators: ({ count }: { count: number }) => addAuthenticators(running(), count),
  addRecords: ({ count }: { count: number }) => addRecords(running(), count),
  sellPlans: () => sellPlans(running()),
};
export type FoyerServer = typeof handlers;
serve(handlers);

import { eraseAuditEvents, exportMemberEvents } from '../../audit/index.ts';
import { eraseMessagesTo, listMessagesTo } from '../../messages/index.ts';
import { countRecoveryCodes, listRememberedDevices, removeAllFactors, totpCreatedAt } from '../../mfa/index.ts';
import { listPasskeys, removeAllPasskeys } from '../../passkeys/index.ts';
import type { SecretBox } from '../../store/index.ts';
import type { PersonalDataSource } from '../../users/index.ts';
import { eraseUserData, exportUserData } from '../../users/index.ts';
import type { DeletionDeps } from '../deletion/deletion-deps.ts';
import { findDeletion } from '../deletion/deletion-store.ts';
import { eraseFactorResets, listFactorResets } from '../factor-reset/factor-reset-store.ts';

type Deps = Pick<DeletionDeps, 'database' | 'sessions' | 'now'> & { outboxBox: SecretBox };

/** The data of lower layers, and of this module. Times in milliseconds since the epoch. */
export function ownDataSources({ database, sessions, outboxBox, now }: Deps): PersonalDataSource[] {
  const { db } = database;
  return [
    {
      name: 'secondFactors',
      async exportData(user) {
        const [appSince, codes, devices] = await Promise.all([
          totpCreatedAt(db, user.id),
          countRecoveryCodes(db, user.id),
          listRememberedDevices(db, user, now()),
        ]);
        return {
          preference: user.mfaPreference,
          authenticatorAppSince: appSince ?? null,
          recoveryCodes: { left: codes.left, createdAt: codes.createdAtMs ?? null },
          rememberedDevices: devices.map(({ userAgent, ip, createdAt, lastUsedAt, expiresAt }) => ({
            userAgent,
            ip,
            createdAt,
            lastUsedAt,
            expiresAt,
          })),
        };
      },
      erase: (trx, { id }, nowMs) => removeAllFactors(trx, id, nowMs),
    },
    {
      name: 'passkeys',
      exportData: async ({ id }) =>
        (await listPasskeys(db, id)).map(({ name, transports, aaguid, backedUp, createdAt, lastUsedAt }) => ({
          name,
          transports,
          aaguid,
          backedUp,
          createdAt,
          lastUsedAt,
        })),
      erase: async (trx, { id }) => void (await removeAllPasskeys(trx, id)),
    },
    {
      name: 'devices',
      exportData: async ({ id }) => (await sessions.list(id)).map(({ idHash: _, ...device }) => device),
      // They ended with the request, and end again after the transaction.
      erase: async () => {},
    },
    {
      name: 'messages',
      exportData: (user) => listMessagesTo(db, outboxBox, user),
      erase: (trx, user) => eraseMessagesTo(trx, outboxBox, user),
    },
    {
      name: 'accountActivity',
      exportData: ({ id }) => exportMemberEvents(db, id),
      erase: (trx, { id }) => eraseAuditEvents(trx, id),
    },
    {
      name: 'leaving',
      exportData: async ({ id }) => ({
        deletion: (await findDeletion(db, id)) ?? null,
        factorResets: await listFactorResets(db, id),
      }),
      erase: (trx, { id }) => eraseFactorResets(trx, id),
    },
    {
      // The last one: the others belong to it.
      name: 'account',
      exportData: (user) => exportUserData(db, user),
      erase: (trx, user) => eraseUserData(trx, user),
    },
  ];
}

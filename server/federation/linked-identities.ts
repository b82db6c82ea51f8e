import type { Kysely, Transaction } from 'kysely';
import { standardProviders } from '../../config/standard-providers.ts';
import type { UserId } from '../shared/index.ts';
import type { Database, Schema } from '../store/index.ts';
import type { PersonalDataSource } from '../users/index.ts';
import {
  type FederatedIdentity,
  listIdentities,
  removeAllIdentities,
  removeIdentitiesLinkedSince,
  removeIdentity,
} from './identity-store.ts';
import type { Provider, Providers } from './providers.ts';
import { updateRequiredSecondFactor } from './required-second-factor.ts';

type LinkedIdentity = Pick<FederatedIdentity, 'kind' | 'provider'>;

/** The configured provider of a link; undefined: there is none (any more), so the link cannot sign in. */
export function findLinkProvider(
  providers: Pick<Providers, 'byId'>,
  { kind, provider }: LinkedIdentity,
): Provider | undefined {
  const found = providers.byId(provider);
  return found?.kind === kind ? found : undefined;
}

export const isProviderConfigured = (providers: Pick<Providers, 'byId'>, link: LinkedIdentity): boolean =>
  findLinkProvider(providers, link) !== undefined;

const standardName = (kind: FederatedIdentity['kind']): string | undefined =>
  kind === 'oidc' || kind === 'saml' ? undefined : standardProviders[kind].name;

/** The host of an issuer; an entity id of SAML need not have one. */
const issuerHost = (issuer: string): string | undefined => URL.parse(issuer)?.host || undefined;

/** The name of a link's provider. One that is not configured any more is known by its issuer's host. */
export const providerName = (
  providers: Pick<Providers, 'byId'>,
  link: LinkedIdentity & Pick<FederatedIdentity, 'issuer'>,
): string =>
  findLinkProvider(providers, link)?.name ?? standardName(link.kind) ?? issuerHost(link.issuer) ?? link.provider;

/** The text by which a user recognizes an account elsewhere. */
export const toAccountLabel = (providerName: string, email: string | null | undefined): string =>
  email ? `${providerName} (${email})` : providerName;

/** @returns false if the user has no such link (any more) */
export async function unlink(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  { userId, id, nowMs }: { userId: UserId; id: string; nowMs: number },
): Promise<boolean> {
  if (!(await removeIdentity(trx, userId, id))) return false;
  await updateRequiredSecondFactor(trx, providers, { userId, nowMs });
  return true;
}

/** Removes links made at or after a time. @returns the number */
export async function unlinkAddedSince(
  trx: Transaction<Schema>,
  providers: Pick<Providers, 'byId'>,
  { userId, sinceMs, nowMs }: { userId: UserId; sinceMs: number; nowMs: number },
): Promise<number> {
  const count = await removeIdentitiesLinkedSince(trx, userId, sinceMs);
  if (count > 0) await updateRequiredSecondFactor(trx, providers, { userId, nowMs });
  return count;
}

/** Links made at or after a time, with the names that the user recognizes. */
export async function listLinkedSince(
  db: Kysely<Schema>,
  providers: Pick<Providers, 'byId'>,
  { userId, sinceMs }: { userId: UserId; sinceMs: number },
): Promise<{ id: string; name: string; createdAt: number }[]> {
  const links = await listIdentities(db, userId);
  return links
    .filter(({ linkedAt }) => linkedAt >= sinceMs)
    .map((link) => ({
      id: link.id,
      name: toAccountLabel(providerName(providers, link), link.email),
      createdAt: link.linkedAt,
    }));
}

/** The data of this module about a user. */
export const federationDataSource = ({ db }: Database): PersonalDataSource => ({
  name: 'linkedAccounts',
  exportData: async ({ id }) => (await listIdentities(db, id)).map(({ id: _, userId: _user, ...link }) => link),
  erase: (trx, { id }) => removeAllIdentities(trx, id),
});

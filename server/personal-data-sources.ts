import { billingDataSource } from './billing/index.ts';
import { federationDataSource } from './federation/index.ts';
import type { Outbox } from './messages/index.ts';
import { clientSessionsDataSource, connectedAppHolding, grantsDataSource } from './oidc/index.ts';
import { signUpDataSource } from './sign-up/index.ts';
import type { Database } from './store/index.ts';
import type { PersonalDataSource } from './users/index.ts';

/** The personal data of the modules above account/, and of those that it does not know. */
export function higherDataSources({
  database,
  outbox,
  now,
}: {
  database: Database;
  outbox: Outbox;
  now: () => number;
}): PersonalDataSource[] {
  return [
    grantsDataSource(database),
    clientSessionsDataSource(database, outbox),
    connectedAppHolding(database, now),
    signUpDataSource(database),
    billingDataSource(database),
    federationDataSource(database),
  ];
}

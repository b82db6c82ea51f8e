import { first } from './0001-first.ts';
import { leases } from './0002-leases.ts';
import { fewerIndexEntries } from './0003-fewer-index-entries.ts';
import { resourceServers } from './0004-resource-servers.ts';
import { outbox } from './0005-outbox.ts';
import { signUp } from './0006-sign-up.ts';
import { secondFactors } from './0007-second-factors.ts';
import { membership } from './0008-membership.ts';
import { federation } from './0009-federation.ts';
import { clientSessions } from './0010-client-sessions.ts';
import { importedMembers } from './0011-imported-members.ts';
import { resourceAlgorithms } from './0012-resource-algorithms.ts';
import { grantsOfClients } from './0013-grants-of-clients.ts';
import { notifications } from './0014-notifications.ts';
import { federatedNames } from './0015-federated-names.ts';
import { outboxDecoys } from './0016-outbox-decoys.ts';
import { postponedDeals } from './0017-postponed-deals.ts';
import { memberContact } from './0018-member-contact.ts';
import { clientSecrets } from './0019-client-secrets.ts';
import { connectedApps } from './0020-connected-apps.ts';
import { abandonedPurchases } from './0021-abandoned-purchases.ts';
import { announcedAmounts } from './0022-announced-amounts.ts';
import { moneyBack } from './0023-money-back.ts';
import { tax } from './0024-tax.ts';
import { billingDetails } from './0025-billing-details.ts';
import { customerDiscount } from './0026-customer-discount.ts';
import { standardClaims } from './0027-standard-claims.ts';
import { idTokenClaims } from './0028-id-token-claims.ts';
import { secretAge } from './0029-secret-age.ts';
import { auditTrail } from './0030-audit-trail.ts';
import { schemaCompatibility } from './0031-schema-compatibility.ts';
import { passwordAge } from './0032-password-age.ts';
import { uploadedPictures } from './0033-uploaded-pictures.ts';
import { dueIndexes } from './0034-due-indexes.ts';
import { memberPause } from './0035-member-pause.ts';
import { erasureIndexes } from './0036-erasure-indexes.ts';
import { requestToBegin } from './0037-request-to-begin.ts';
import { seats } from './0038-seats.ts';
import { gifts } from './0039-gifts.ts';
import { planTrials } from './0040-plan-trials.ts';
import { begunPauses } from './0041-begun-pauses.ts';
import { orderDebts } from './0042-order-debts.ts';
import type { Migration } from './migration.ts';

/** All migrations, oldest first. Append only: a released one is never changed, moved or removed. */
export const migrations: readonly Migration[] = [
  first,
  leases,
  fewerIndexEntries,
  resourceServers,
  outbox,
  signUp,
  secondFactors,
  membership,
  federation,
  clientSessions,
  importedMembers,
  resourceAlgorithms,
  grantsOfClients,
  notifications,
  federatedNames,
  outboxDecoys,
  postponedDeals,
  memberContact,
  clientSecrets,
  connectedApps,
  abandonedPurchases,
  announcedAmounts,
  moneyBack,
  tax,
  billingDetails,
  customerDiscount,
  standardClaims,
  idTokenClaims,
  secretAge,
  auditTrail,
  schemaCompatibility,
  passwordAge,
  uploadedPictures,
  dueIndexes,
  memberPause,
  erasureIndexes,
  requestToBegin,
  seats,
  gifts,
  planTrials,
  begunPauses,
  orderDebts,
];

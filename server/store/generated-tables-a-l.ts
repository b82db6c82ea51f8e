// Generated from the migrations and `scripts/lib/table-columns.mjs` by `npm run docs`; a test fails when it is stale.
import type { ProviderKind } from '../../config/standard-providers.ts';
import type {
  ClientId,
  NormalisedEmail,
  PlanId,
  ProviderId,
  SessionIdHash,
  Sha256,
  StripeCustomerId,
  UserId,
} from '../shared/index.ts';

export interface TablesAToL {
  /** A requested deletion. The row stays when all other data of the user are erased. */
  accountDeletions: {
    userId: UserId;
    requestedAt: number;
    dueAt: number;
    doneAt: number | null;
    /**
     * How the paid membership ends: at-once, period-end, period-end:<next plan>, with the change that Stripe did not
     * have yet; null: there was none that renews.
     */
    membership: string | null;
  };
  /**
   * An event of the audit trail in the hash chain. Never changed, except that the personal part is deleted with the
   * account.
   */
  auditEvents: {
    id: string;
    at: number;
    type: string;
    /** The member in the personal part. */
    userId: UserId | null;
    /** The hashed part: canonical JSON. */
    body: string;
    /** The personal part: JSON; null: deleted, or none. */
    person: string | null;
    /** Of the digest of the personal part in the body. */
    salt: string | null;
    seq: number;
    /** SHA-256 of the hash before it, the number and the body. */
    chainHash: Sha256;
  };
  /** The ends of the chain: the last sealed event, and the last one that retention has deleted. */
  auditMarks: {
    name: 'head' | 'start';
    seq: number;
    chainHash: Sha256;
    /** HMAC-SHA-256 of the point under a key that SECRET_KEY derives. */
    mac: string;
    updatedAt: number;
  };
  /** Events that wait for the sealer. */
  auditQueue: {
    id: string;
    at: number;
    type: string;
    userId: UserId | null;
    body: string;
    person: string | null;
    salt: string | null;
  };
  /** The name, address and VAT id on a user's invoices; the customer at Stripe has them too. */
  billingDetails: {
    userId: UserId;
    /** null: the profile's. */
    name: string | null;
    company: string | null;
    line1: string | null;
    line2: string | null;
    postalCode: string | null;
    city: string | null;
    state: string | null;
    /** ISO 3166-1 alpha-2. */
    country: string | null;
    vatId: string | null;
    /** The answer of the registry, by Stripe; null: there is no VAT id, or it was not asked yet. */
    vatIdStatus: 'unverified' | 'pending' | 'verified' | 'unavailable' | null;
    /** The id of Stripe's object of the VAT id. */
    taxIdObject: string | null;
    createdAt: number;
    updatedAt: number;
  };
  /** How far the events of Stripe and the comparison with it were read. */
  billingProgress: {
    name: string;
    /** Time of the last event, or start of the last comparison. */
    at: number;
    /** The last compared user; null: it is complete. */
    position: string | null;
    updatedAt: number;
  };
  /** Tasks at Stripe that were decided in a transaction here. */
  billingTasks: {
    id: string;
    kind:
      | 'cancel-now'
      | 'cancel-later'
      | 'change-later'
      | 'keep'
      | 'resume'
      | 'pause'
      | 'refund'
      | 'ensure-customer'
      | 'delete-customer';
    userId: UserId;
    customerId: StripeCustomerId | null;
    /** change-later: the next plan; keep: the plan of an earlier scheduled change. */
    planId: PlanId | null;
    attempts: number;
    lastError: string | null;
    nextAttemptAt: number;
    createdAt: number;
    /**
     * JSON: refund: the invoice, the amount and who asked for it (`RefundTask`); cancel-later: an end on notice
     * (`EndOnNotice`).
     */
    detail: string | null;
  };
  /**
   * The `sid` of a Foyer session for a client app with back-channel logout (OpenID Connect Back-Channel Logout 1.0).
   * Not part of the grant: revoked tokens end that, while the user is still signed in there.
   */
  clientSessions: {
    /** As in its id tokens. */
    sid: string;
    /** Hash of the Foyer session. */
    foyerSession: SessionIdHash;
    clientId: ClientId;
    accountId: UserId;
    createdAt: number;
    /** Later than any session; extended while it is used. */
    expiresAt: number;
  };
  /** One client app. `metadata` is JSON in RFC 7591 names, without the secret. */
  clients: {
    id: ClientId;
    name: string;
    metadata: string;
    /** SHA-256 (base64url) of the client secret; null for public clients. */
    secretHash: Sha256 | null;
    createdAt: number;
    updatedAt: number;
    previousSecretHash: Sha256 | null;
    /** Expiry of the previous secret (milliseconds since the epoch). */
    previousSecretExpiresAt: number | null;
    /** Null without a secret. */
    secretCreatedAt: number | null;
  };
  /**
   * A client app with a user's consent, or with offline access. Scopes are those of the consent; empty if the
   * marketplace's own app needs none.
   */
  connectedApps: {
    userId: UserId;
    clientId: ClientId;
    /** Separated by spaces. */
    scopes: string;
    /** JSON: scopes by the identifiers of resource servers, each separated by spaces. */
    resources: string;
    createdAt: number;
    lastUsedAt: number;
  };
  /** A change of a user's address, which the owner of the former one can undo for a while (`security.md`, rule 14). */
  emailChanges: {
    id: string;
    userId: UserId;
    oldEmail: NormalisedEmail;
    newEmail: NormalisedEmail;
    /** SHA-256 of the token in the undo link. */
    undoHash: Sha256;
    changedAt: number;
    undoUntil: number;
    undoneAt: number | null;
  };
  /** An operator's reset of a second factor: it takes effect after a while, unless the user cancels it. */
  factorResets: {
    id: string;
    userId: UserId;
    /** SHA-256 of the token in the cancel links. */
    tokenHash: Sha256;
    state: 'waiting' | 'cancelled' | 'done';
    requestedAt: number;
    dueAt: number;
    endedAt: number | null;
  };
  /**
   * A user's identity at a provider (OpenID Connect Core 1.0, section 2: issuer and subject; SAML 2.0: entity id and
   * name).
   */
  federatedIdentities: {
    id: string;
    userId: UserId;
    /** Issuers of different protocols are unrelated. */
    kind: ProviderKind;
    issuer: string;
    subject: string;
    /** The configured provider of the last use; not part of the identity. */
    provider: ProviderId;
    /** The provider's latest address, for the user to recognize; not part of the identity. */
    email: NormalisedEmail | null;
    linkedAt: number;
    /** null: linked, but never used for a sign-in. */
    lastUsedAt: number | null;
    /** The provider's latest name; null: unknown. Not part of the identity, but it reveals a reassigned subject. */
    name: string | null;
  };
  /** A code that gives a paid plan for some months, once. A revoked, expired or used one stays for a while. */
  gifts: {
    id: string;
    /** SHA-256 of the code, which is shown once. */
    codeHash: Sha256;
    planId: PlanId;
    months: number;
    createdAt: number;
    expiresAt: number;
    revokedAt: number | null;
    /** The member who has redeemed it; null: none yet, or one who is erased. */
    userId: UserId | null;
    redeemedAt: number | null;
    /** The end of the plan that it has given. */
    endsAt: number | null;
  };
  /** The process that does a job which only one may do at a time. */
  leases: {
    name: string;
    holder: string;
    expiresAt: number;
  };
}

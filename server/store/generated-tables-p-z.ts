// Generated from the migrations and `scripts/lib/table-columns.mjs` by `npm run docs`; a test fails when it is stale.
import type { Generated } from 'kysely';
import type {
  ClientId,
  E164,
  NormalisedEmail,
  PlanId,
  PlanKey,
  SealedText,
  Sha256,
  StripeCustomerId,
  StripeInvoiceId,
  UserId,
} from '../shared/index.ts';

export interface TablesPToZ {
  /** A plan that was bought from a partner (the specification's appsumo), by the buyer's address. */
  partnerDeals: {
    email: NormalisedEmail;
    tier: 1 | 2 | 3;
    importedAt: number;
    userId: UserId | null;
    usedAt: number | null;
  };
  /** A passkey (WebAuthn level 3). */
  passkeys: {
    /** Credential id, base64url. */
    id: string;
    userId: UserId;
    /** The user's name for it. */
    name: string;
    /** COSE key, base64url. */
    publicKey: string;
    counter: number;
    /** Separated by spaces. */
    transports: string;
    aaguid: string;
    backedUp: number;
    createdAt: number;
    lastUsedAt: number | null;
  };
  /** A user's purchase: the choice, and the attempted charge. */
  purchases: {
    id: string;
    userId: UserId;
    /** The user's id while it is open, null after that, so that a user has one open purchase. */
    openFor: UserId | null;
    planId: PlanId;
    /** JSON: the applied promotion code (`ChosenPromotion`). */
    promotion: string | null;
    state: 'open' | 'charging' | 'paid' | 'abandoned';
    /** Part of the idempotency keys. */
    attempt: number;
    /** JSON: the exact request to Stripe in this attempt (`Charge`), so that it can be repeated. */
    charge: string | null;
    invoiceId: StripeInvoiceId | null;
    createdAt: number;
    updatedAt: number;
    /** JSON: the start of the rest of a period that the user was quoted (`QuotedDate`). */
    quoted: string | null;
    seats: number | null;
  };
  /** One of the ten codes for a lost second factor. */
  recoveryCodes: {
    id: string;
    userId: UserId;
    /** SHA-256 (base64url); the codes have 80 bits, so a slow hash is not needed. */
    codeHash: Sha256;
    createdAt: number;
    usedAt: number | null;
  };
  /** A browser on which the second factor is skipped for a while. */
  rememberedDevices: {
    id: string;
    userId: UserId;
    secretHash: Sha256;
    /** Invalid after a later change of the password. */
    passwordEpoch: number;
    userAgent: string;
    ip: string;
    createdAt: number;
    lastUsedAt: number;
    expiresAt: number;
  };
  /** An API of the marketplace that accepts JWT access tokens. */
  resourceServers: {
    /** Absolute URI. */
    identifier: string;
    /** Separated by spaces. */
    scopes: string;
    createdAt: number;
    signingAlg: Generated<'ES256' | 'RS256'>;
  };
  /**
   * A sign-up with an unconfirmed address. Any number may be started with one address: the one whose code is entered
   * becomes the user, so that a user's account never has another person's password.
   */
  signUps: {
    id: string;
    email: NormalisedEmail;
    givenName: string;
    familyName: string;
    /** '' if the sign-up was started with a provider, and after its confirmation. */
    passwordHash: string;
    locale: string;
    source: 'general' | 'appsumo';
    planKey: PlanKey | null;
    /** JSON: the shown and accepted terms, and the place. */
    terms: string;
    /** The query with a client app's request, or with the requested page. */
    errand: string;
    /**
     * confirmed: it has become a user; decoy: the address already belonged to a user, which the visitor did not learn.
     */
    state: 'begun' | 'confirmed' | 'decoy';
    /** The user that it has become. */
    userId: UserId | null;
    createdAt: number;
    updatedAt: number;
    expiresAt: number;
    /** JSON: the identity at the provider of the sign-up; null: it was started with a password. */
    identity: string | null;
    zoneinfo: string | null;
  };
  signingKeys: {
    /** The JWK's `kid`. */
    id: string;
    alg: string;
    /** The private JWK, sealed (see secret-box.ts). */
    sealedJwk: SealedText;
    createdAt: number;
    /** Start of its use for signing; published before. */
    activatesAt: number;
    /** End of its publication; null for the newest. */
    expiresAt: number | null;
  };
  /** Received webhook events; one is done once its object has been read again. */
  stripeEvents: {
    id: string;
    type: string;
    customerId: StripeCustomerId | null;
    receivedAt: number;
    doneAt: number | null;
  };
  /** The ledger of terms: the acceptances with user, time and place. Rows are only added. */
  termsAcceptances: {
    id: string;
    userId: UserId;
    version: number;
    label: string;
    lang: string;
    /** SHA-256 (base64url) of the shown text. */
    textHash: Sha256;
    ip: string | null;
    userAgent: string | null;
    /** The client app with a pending request. */
    clientId: ClientId | null;
    acceptedAt: number;
  };
  /** Notifications that a user gets only once. */
  toldMembers: {
    userId: UserId;
    /** For example `payment-failed:<invoice>:<attempt>`. */
    about: string;
    toldAt: number;
  };
  /** A user's authenticator app (RFC 6238). Only activated ones have a row. */
  totpAuthenticators: {
    userId: UserId;
    /** Base32, sealed. */
    sealedSecret: SealedText;
    /** The last accepted time step: it and earlier ones are never accepted again. */
    lastStep: number;
    createdAt: number;
  };
  /** One trial per confirmed address and per card. Stays when its user is erased. */
  trialClaims: {
    kind: 'email' | 'card';
    /** Keyed hash of the address or of the card's fingerprint. */
    valueHash: string;
    userId: UserId;
    claimedAt: number;
  };
  uploadedPictures: {
    userId: UserId;
    name: string;
    type: string;
    content: string;
    createdAt: number;
  };
  /** The specification's user record without the columns of `users`. JSON columns have objects. */
  userRecords: {
    id: string;
    userId: UserId;
    stripeCustomerId: string | null;
    about: string;
    additionalAttributes: string;
    imageName: string | null;
    notificationSetting: string;
    socialMediaLinks: string;
    status: string;
    totalRewards: string;
    companyCategory: string | null;
    userType: string | null;
    createdAt: number;
    updatedAt: number;
  };
  /** One user: the specification's identity session user and user attributes in one row. */
  users: {
    id: UserId;
    /** Lower-cased; unique. */
    email: NormalisedEmail;
    emailVerified: number;
    /** E.164; unique when set. */
    phone: E164 | null;
    phoneVerified: number;
    /**
     * argon2id in PHC format, or an imported format (`password_profile`); null for users who only sign in with a
     * provider, and for imported ones without a password.
     */
    passwordHash: string | null;
    givenName: string;
    familyName: string;
    /** The user's language; '': none chosen, so the browser's applies. */
    locale: string;
    /** null: never accepted. */
    acceptedTosVersion: number | null;
    acceptedTosAt: number | null;
    source: 'general' | 'appsumo' | 'appsumo_update';
    /** The user's plan; only billing/ decides it. */
    planId: PlanId | null;
    picture: string | null;
    /** Set while an operator has disabled the user. */
    disabledAt: number | null;
    createdAt: number;
    updatedAt: number;
    /** ISO 8601 date. */
    birthdate: string | null;
    address: string | null;
    companyName: string | null;
    jobTitle: string | null;
    preferredLanguage: string | null;
    /** '0': unspecified. */
    gender: Generated<string>;
    newsletter: Generated<number>;
    /** Number of password changes: everything that was issued under an earlier epoch is invalid. */
    passwordEpoch: Generated<number>;
    /** The epoch of the last sign-in; null: never. */
    signedInEpoch: number | null;
    mfaPreference: Generated<'none' | 'sms' | 'totp'>;
    /** Time of the last change of the number; null: never. */
    phoneChangedAt: number | null;
    /** End of the trial; null: no trial. */
    trialUntil: number | null;
    /** A partner's plan that waits for the user's confirmation (source appsumo_update). */
    offeredPlanId: PlanId | null;
    /** 1: a provider of the user requires a second factor; it must be set up before anything else. */
    secondFactorRequired: Generated<number>;
    /** When the user was imported (`foyer user import`); null: they signed up here. */
    importedAt: number | null;
    /** Profile of an imported hash; null: Foyer made it. */
    passwordProfile: string | null;
    /** When a user who declined that plan for now is asked again (milliseconds since the epoch). */
    dealAgainAt: number | null;
    /** In lower case; unique. */
    preferredUsername: string | null;
    /** A time zone of the IANA database. */
    zoneinfo: string | null;
    nickname: string | null;
    middleName: string | null;
    website: string | null;
    /** The claim `profile`. */
    profileUrl: string | null;
    /** null: unknown, or there is no password. */
    passwordChangedAt: number | null;
    seats: number | null;
  };
}

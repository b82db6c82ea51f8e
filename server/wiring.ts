import { findMethodFaults } from '../config/checks.ts';
import { ConfigurationError } from '../config/load.ts';
import { loadPlans } from '../config/plans.ts';
import { loadProviders } from '../config/providers.ts';
import {
  cancelDeletionsRequestedSince,
  cancelPendingDeletion,
  cancelResetsRequestedSince,
  createContactDeps,
  createDeletion,
  type Deletion,
} from './account/index.ts';
import { type AuditTrail, createAuditTrail, recordEntry } from './audit/index.ts';
import { type AppDeps, type BaseServices, toAccountDeps } from './base-services.ts';
import {
  type BillingModule,
  createBillingModule,
  createCatalogue,
  createStripe,
  membershipClaims,
  planPageUrl,
  subscriptionOnDeletion,
  toOfferedMethods,
} from './billing/index.ts';
import {
  createFederationModule,
  createUpstreamLogout,
  type FederationHooks,
  listLinkedSince,
  unlinkAddedSince,
} from './federation/index.ts';
import type { AllSubscribers } from './hooks.ts';
import { createMfa, removeFactorsAddedSince } from './mfa/index.ts';
import { createOidcModule, type OidcModule } from './oidc/index.ts';
import { createPasskeys, removePasskeysAddedSince } from './passkeys/index.ts';
import { createPasswordDeps } from './password/index.ts';
import { higherDataSources } from './personal-data-sources.ts';
import { createMailedCodes, createSignIn, signInWithAddress } from './sign-in/index.ts';
import { openSignUp } from './sign-up/index.ts';
import { listWithheldFields, mailWelcome } from './users/index.ts';

/** The plans, and the providers with the sign-out there: what modules need before billing and federation exist. */
function createCatalogues({ config, kv, boxes, log, now }: AppDeps, { publicUrl, billingNow }: BaseServices) {
  const catalogue = createCatalogue(loadPlans(config.PLANS_FILE));
  const faults = findMethodFaults(config.PAYMENT_METHODS, catalogue.currency);
  if (faults.length > 0) throw new ConfigurationError(faults);
  const readProviders = () => loadProviders(config.PROVIDERS_FILE, process.env);
  const strategies = { publicUrl, config, file: readProviders(), now };
  const upstream = createUpstreamLogout({ strategies, kv, box: boxes.federation, log });
  return {
    catalogue,
    getMembershipClaims: membershipClaims(catalogue, billingNow),
    upstream,
    /** @throws {ProvidersFileError} the providers in force stay */
    reloadProviders: () => upstream.replaceProviders(readProviders()),
  };
}

type Catalogues = ReturnType<typeof createCatalogues>;

type OidcSettings = Parameters<typeof createOidcModule>[0];

interface WiringInput {
  deps: AppDeps;
  base: BaseServices;
  catalogues: Catalogues;
  /** Answers an error outside of Express's handlers. */
  fail: OidcSettings['fail'];
  onRefusal: OidcSettings['onRefusal'];
  toExpress: OidcSettings['toExpress'];
}

function createOidc({ deps, base, catalogues, fail, onRefusal, toExpress }: WiringInput): Promise<OidcModule> {
  const { config, database, kv, boxes, outbox, log, metrics, terms, now } = deps;
  const { publicUrl, lifetimes, cookieKeys, key, limits, visitorGate, cookies, sharedCookies } = base;
  return createOidcModule({
    publicUrl,
    development: !config.production,
    privacyUrl: config.PRIVACY_URL,
    developersUrl: config.DEVELOPERS_URL,
    rememberMs: lifetimes.rememberMs,
    idleMs: lifetimes.idleMs,
    keysRefreshMs: config.KEYS_REFRESH_SECONDS * 1000,
    cookieKeys,
    proofNonceSecret: key('DPoP nonces'),
    userCodeSecret: key('user codes'),
    limits,
    database,
    kv,
    visitorGate,
    oidcBox: boxes.oidc,
    keysBox: boxes.keys,
    outbox,
    cookies,
    sharedCookies,
    defaultClientId: config.DEFAULT_CLIENT_ID,
    pages: base.pages,
    log,
    metrics,
    now,
    fail,
    onRefusal,
    toExpress,
    terms,
    nextRedirect: base.nextRedirect,
    membershipClaims: catalogues.getMembershipClaims,
    withPicture: base.withPicture,
    withheldFields: listWithheldFields(config.PROFILE_FIELDS),
    catalogue: catalogues.catalogue,
    plansAreSold: config.STRIPE_SECRET_KEY !== undefined,
    providersOut: catalogues.upstream,
    sessions: base.sessions,
  });
}

/** Second factors, passkeys, plans and sign-in. */
function createSignInModules({ deps, base, catalogues }: WiringInput) {
  const { config, boxes, metrics, now } = deps;
  const { key, limits, sessions, devices, nextRedirect } = base;
  const accountDeps = toAccountDeps(deps, base);
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_API_URL: apiUrl } = config;
  const mfa = createMfa({ ...accountDeps, mfaBox: boxes.mfa, limits, rememberDays: config.MFA_REMEMBER_DAYS });
  return {
    accountDeps,
    mfa,
    passkeys: createPasskeys({ ...accountDeps, secret: key('passkey challenges') }),
    membership: createBillingModule({
      ...accountDeps,
      catalogue: catalogues.catalogue,
      stripe: secretKey === undefined ? undefined : createStripe({ secretKey, apiUrl }),
      webhookSecret: config.STRIPE_WEBHOOK_SECRET,
      methods: toOfferedMethods(config.PAYMENT_METHODS),
      limits,
      metrics,
      trialKey: key('trials'),
      now: base.billingNow,
    }),
    signIn: createSignIn({ mfa, sessions, devices, nextRedirect, now }),
    mailedCodes: createMailedCodes({ ...accountDeps, limits }),
  };
}

type SignInModules = ReturnType<typeof createSignInModules>;

/** Passwords, deletion and contact data. */
function createAccountModules({ deps, base, catalogues }: WiringInput, { accountDeps }: SignInModules) {
  const { database, boxes, outbox, now } = deps;
  const { catalogue, upstream } = catalogues;
  const { providers } = upstream;
  const password = createPasswordDeps({
    ...accountDeps,
    limits: base.guessLimits,
    lateLinks: {
      list: (userId, sinceMs) => listLinkedSince(database.db, providers, { userId, sinceMs }),
      remove: (trx, since) => unlinkAddedSince(trx, providers, since),
    },
  });
  const deletion = createDeletion({
    ...accountDeps,
    outboxBox: boxes.outbox,
    personalDataSources: higherDataSources({ database, outbox, now }),
    membership: subscriptionOnDeletion(database, catalogue),
  });
  const contact = createContactDeps({
    ...accountDeps,
    contactBox: boxes.contact,
    password,
    revertContactChange: [
      removeFactorsAddedSince,
      removePasskeysAddedSince,
      (trx, since) => unlinkAddedSince(trx, providers, since),
      (trx, since) => cancelDeletionsRequestedSince(trx, deletion, since),
      cancelResetsRequestedSince,
    ],
  });
  return { password, deletion, contact };
}

/** Sign-up, and sign-in by a provider. */
function createSignUpModules({ deps, base, catalogues }: WiringInput, oauth: OidcModule, modules: SignInModules) {
  const { metrics, legal, boxes } = deps;
  const { nextRedirect, limits } = base;
  const { catalogue, upstream } = catalogues;
  const { accountDeps, membership, signIn } = modules;
  const { providers, pendingLogouts } = upstream;
  const signUp = openSignUp({
    ...accountDeps,
    signIn,
    metrics,
    legal,
    nextRedirect,
    limits,
    plans: {
      sold: membership.sold,
      knows: (planKey) => catalogue.byKey(planKey) !== undefined,
      memberUrl: (planKey, search) => planPageUrl(catalogue.byKey(planKey), search),
    },
    providers,
    findPendingAuthorization: oauth.findPendingAuthorization,
    toExpiredError: oauth.toExpiredError,
  });
  const hooks: FederationHooks = {
    ...signInWithAddress(signIn, nextRedirect),
    nextRedirect: (user, continuation) => nextRedirect(user, continuation).address,
    requiresAllFactors: async ({ req }, { authorization }) =>
      authorization !== undefined &&
      (await oauth.findPendingAuthorization(req, authorization))?.requiresAllFactors === true,
    requiresFreshAuthentication: async ({ req }, { authorization }) =>
      authorization !== undefined &&
      (await oauth.findPendingAuthorization(req, authorization))?.requiresFreshAuthentication === true,
    afterFederatedSignUp: signUp.afterProvider,
    startEmailVerification: signUp.beginByProvider,
  };
  const settings = { ...accountDeps, ...hooks, metrics, box: boxes.federation, limits, providers, pendingLogouts };
  return { signUp, federation: createFederationModule(settings) };
}

/** Everything that follows a sign-in, a session or a new user, in this order. */
function listSubscribers(
  { database, outbox, metrics, now }: AppDeps,
  { devices }: BaseServices,
  {
    deletion,
    oauth,
    audit,
    membership,
  }: { deletion: Deletion; oauth: OidcModule; audit: AuditTrail; membership: BillingModule },
): AllSubscribers {
  const { subscribers: oidc } = oauth;
  return {
    // It refuses the sign-in of a user who has been erased.
    beforeSignIn: { cancelPendingDeletion: (req, user) => cancelPendingDeletion(deletion, req, user) },
    onSessionReplaced: { moveGrants: oidc.moveGrants },
    onSessionStarted: {
      replaceProviderSession: oidc.replaceProviderSession,
      mintTokenCookies: oidc.mintTokenCookies,
      countSession: async () => metrics.sessionStarted(),
    },
    afterSignIn: {
      recordSignIn: ({ user, session }) =>
        recordEntry(database.db, {
          type: 'sign-in.completed',
          details: { amr: session.amr, provider: session.upstream?.provider },
          subject: user.id,
          atMs: now(),
        }),
      rememberDevice: devices.rememberDevice,
      notifyNewDevice: devices.notifyNewDevice,
    },
    onSessionsEnded: { revokeGrantsOfSessions: oidc.revokeGrantsOfSessions },
    onAllSessionsEnded: { revokeGrantsOfUser: oidc.revokeGrantsOfUser },
    onOtherSessionsEnded: { revokeOfflineAccess: oidc.revokeOfflineAccess },
    afterSignOut: {
      clearTokenCookies: oidc.clearTokenCookies,
      endProviderSession: oidc.endProviderSession,
      recordSignOut: async ({ session, requestedBy: { clientId, provider } }) => {
        if (session === undefined) return;
        const subject = session.userId;
        await recordEntry(database.db, {
          type: 'sign-out.completed',
          details: { provider },
          subject,
          clientId,
          atMs: now(),
        });
      },
    },
    onUserCreated: {
      recordAccount: (trx, { user, provider }) =>
        recordEntry(trx, { type: 'account.created', details: { provider }, subject: user.id, atMs: now() }),
      mailWelcome: (trx, created) => mailWelcome(outbox, trx, created),
      requestCustomer: (trx, created) => membership.requestCustomer(trx, created),
    },
    afterUserCreated: { createCustomer: async (userId) => membership.createRequestedCustomer(userId) },
    onAct: { recordEntry: audit.subscribers.onAct },
    onSignInRefused: { countRefusal: audit.subscribers.onSignInRefused },
  };
}

/** Creates every module after those that it needs. `app.ts` has the order in which requests pass them. */
export async function wireModules(
  deps: AppDeps,
  base: BaseServices,
  handlers: Pick<WiringInput, 'fail' | 'onRefusal' | 'toExpress'>,
) {
  const input: WiringInput = { deps, base, catalogues: createCatalogues(deps, base), ...handlers };
  const oauth = await createOidc(input);
  const signInModules = createSignInModules(input);
  const accountModules = createAccountModules(input, signInModules);
  const signUpModules = createSignUpModules(input, oauth, signInModules);
  const { config, database, log, now } = deps;
  const audit = createAuditTrail({ database, secretKeys: config.SECRET_KEYS, days: config.AUDIT_DAYS, log, now });
  const { deletion } = accountModules;
  const { membership } = signInModules;
  base.hooks.subscribe(listSubscribers(deps, base, { deletion, oauth, audit, membership }));
  const { getMembershipClaims, reloadProviders } = input.catalogues;
  return { audit, oauth, getMembershipClaims, reloadProviders, ...signInModules, ...accountModules, ...signUpModules };
}

export type Modules = Awaited<ReturnType<typeof wireModules>>;

import type { Request, Response } from 'express';
import { loadPlans } from '../config/plans.ts';
import { loadProviders } from '../config/providers.ts';
import {
  cancelDeletionOnSignIn,
  cancelDeletionsRequestedSince,
  cancelResetsRequestedSince,
  createContactDeps,
  createDeletion,
} from './account/index.ts';
import {
  billingDataSource,
  createBillingModule,
  createCatalogue,
  createStripe,
  membershipClaims,
  subscriptionOnDeletion,
} from './billing/index.ts';
import { guessLimitsFromConfig, mediaFromConfig, pageLinks, toRateLimits } from './config-of-rooms.ts';
import type { Deps } from './deps.ts';
import type { Extensions } from './extensions.ts';
import {
  createFederationModule,
  type FederationHooks,
  federationDataSource,
  listLinkedSince,
  unlinkAddedSince,
} from './federation/index.ts';
import { withPageUser } from './greet-members.ts';
import {
  brandStylesheet,
  type Continuation,
  createFormRecords,
  createPages,
  domainCookies,
  hostCookies,
  type Pages,
} from './http/index.ts';
import { createCodes, createSmsSender } from './messages/index.ts';
import { createMfa, removeFactorsAddedSince } from './mfa/index.ts';
import { clientSessionsDataSource, connectedAppHolding, createOidcModule, grantsDataSource } from './oidc/index.ts';
import { createPasskeys, removePasskeysAddedSince } from './passkeys/index.ts';
import { createPasswordDeps, createPasswordPolicy } from './password/index.ts';
import { createVisitorGate } from './rate-limits/index.ts';
import {
  createKnownDevices,
  createNewDeviceNotifier,
  createSessionHooks,
  createSessions,
  getRequestOrigin,
  returningBrowsers,
  sessionCookie,
  sessionMiddleware,
} from './sessions/index.ts';
import { dayMs, hourMs, keyedDigest, minuteMs } from './shared/index.ts';
import { createMailedCodes, createNextRedirect, createSignIn, type SignInResult } from './sign-in/index.ts';
import { openSignUp, signUpDataSource } from './sign-up/index.ts';
import { deriveKey, type VisitorData } from './store/index.ts';
import type { User } from './users/index.ts';

/**
 * Creates every module after those that it needs. `app.ts` has the order in which requests pass them.
 * @param fail answers an error outside of Express's handlers
 */
export async function wireModules(
  deps: Deps & { visitorData: VisitorData },
  fail: (pages: Pages) => (req: Request, res: Response, error: unknown) => void,
  extensions: Extensions,
) {
  const { config, log, database, kv, assets, passwords, boxes, outbox, legal, terms, metrics, visitorData, now } = deps;
  const publicUrl = config.PUBLIC_URL;
  const rememberMs = config.REMEMBER_ME_DAYS * dayMs;
  const idleMs = config.SESSION_IDLE_MINUTES * minuteMs;
  const lifetimes = { idleMs, rememberMs, maxMs: config.SESSION_MAX_HOURS * hourMs };
  const cookieKeys = config.SECRET_KEYS.map((key) => deriveKey(key, 'cookie signatures', 32).toString('base64url'));
  const cookies = hostCookies(config.https);
  const returning = returningBrowsers(cookies, deriveKey(config.SECRET_KEYS[0] ?? '', 'returning browsers', 32));
  const visitorGate = createVisitorGate({ kv, data: visitorData, isReturning: returning.is, metrics });
  const brand = config.BRAND_ACCENT === undefined ? undefined : brandStylesheet(config.BRAND_ACCENT);
  const pages = createPages({
    assets,
    brandName: config.BRAND_NAME,
    brandLogoUrl: config.BRAND_LOGO_URL,
    brandCss: brand?.path,
    mediaUrl: mediaFromConfig(config)?.url,
    endAddress: config.SEARCH_APP_URL,
    links: pageLinks(config, extensions.links),
    banner: extensions.layoutBanner,
    extraCss: extensions.assets && assets.style(extensions.assets.stylesheet),
    formRecords: createFormRecords({ cookies, box: boxes.forms, sessionCookie, now }),
  });
  const searchAppUrl = config.SEARCH_APP_URL ?? extensions.links?.search ?? '/';
  const nextRedirect = createNextRedirect({
    publicUrl,
    searchAppUrl,
    terms,
    plansAreSold: config.STRIPE_SECRET_KEY !== undefined,
    now,
  });
  const hooks = createSessionHooks();
  const sessions = withPageUser(createSessions({ kv, database, cookies, lifetimes, metrics, now, hooks }), {
    database,
    media: mediaFromConfig(config),
  });
  const catalogue = createCatalogue(loadPlans(config.PLANS_FILE));
  const billingNow = deps.billingNow ?? now;
  const getMembershipClaims = membershipClaims(catalogue, billingNow);
  const limits = toRateLimits(config, deps);
  const oauth = await createOidcModule({
    publicUrl,
    development: !config.production,
    rememberMs,
    idleMs,
    keysRefreshMs: config.KEYS_REFRESH_SECONDS * 1000,
    cookieKeys,
    proofNonceSecret: deriveKey(config.SECRET_KEYS[0] ?? '', 'DPoP nonces', 32),
    userCodeSecret: deriveKey(config.SECRET_KEYS[0] ?? '', 'user codes', 32),
    limits,
    database,
    kv,
    visitorGate,
    oidcBox: boxes.oidc,
    keysBox: boxes.keys,
    outbox,
    cookies,
    sharedCookies: config.COOKIE_DOMAIN === undefined ? cookies : domainCookies(config.https, config.COOKIE_DOMAIN),
    defaultClientId: config.DEFAULT_CLIENT_ID,
    pages,
    log,
    metrics,
    now,
    fail: fail(pages),
    nextRedirect,
    membershipClaims: getMembershipClaims,
    catalogue,
    plansAreSold: config.STRIPE_SECRET_KEY !== undefined,
    providersOut: {
      upstreamLogoutUrl: (upstream, returnTo) => federation.upstreamLogoutUrl(upstream, returnTo),
      endsAtProvider: (upstream) => federation.endsThere(upstream),
    },
    sessions,
  });
  const session = sessionMiddleware({ kv, cookies, cookieKeys, lifetimes });
  const knownDevices = createKnownDevices(cookies, deriveKey(config.SECRET_KEYS[0] ?? '', 'known devices', 32));
  const devices = createNewDeviceNotifier(
    {
      ...knownDevices,
      remember(req, res, user) {
        knownDevices.remember(req, res, user);
        returning.mark(req, res);
      },
    },
    { database, kv, outbox, log, now },
  );
  const queueFull = { status: config.PASSWORD_QUEUE_FULL_STATUS, retrySeconds: config.PASSWORD_QUEUE_RETRY_SECONDS };
  const codes = createCodes({ kv, key: deriveKey(config.SECRET_KEYS[0] ?? '', 'one-time codes', 32) });
  const policy = createPasswordPolicy({ breachedApi: config.BREACHED_PASSWORDS_API, log });
  const guessLimits = guessLimitsFromConfig(config, limits);
  const { smsOffered } = deps;
  const digest = keyedDigest(deriveKey(config.SECRET_KEYS[0] ?? '', 'recipients of messages', 32));
  const texts = createSmsSender({
    kv,
    outbox,
    digest,
    countries: config.SMS_COUNTRIES,
    limits,
  });
  /** The shared dependencies of the account modules. */
  const accountDeps = {
    publicUrl,
    pages,
    log,
    database,
    kv,
    cookies,
    now,
    passwords,
    policy,
    codes,
    outbox,
    texts,
    smsOffered,
    sessions,
    devices,
    queueFull,
    brandName: config.BRAND_NAME,
    uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
  };
  const mfa = createMfa({
    ...accountDeps,
    mfaBox: boxes.mfa,
    limits,
    rememberDays: config.MFA_REMEMBER_DAYS,
  });
  const passkeys = createPasskeys({
    ...accountDeps,
    secret: deriveKey(config.SECRET_KEYS[0] ?? '', 'passkey challenges', 32),
  });
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_API_URL: apiUrl } = config;
  const membership = createBillingModule({
    ...accountDeps,
    catalogue,
    stripe: secretKey === undefined ? undefined : createStripe({ secretKey, apiUrl }),
    webhookSecret: config.STRIPE_WEBHOOK_SECRET,
    limits,
    metrics,
    trialKey: deriveKey(config.SECRET_KEYS[0] ?? '', 'trials', 32),
    now: billingNow,
  });
  const signIn = createSignIn({ mfa, sessions, devices, nextRedirect, now });
  const mailedCodes = createMailedCodes({ ...accountDeps, limits });
  const password = createPasswordDeps({
    ...accountDeps,
    limits: guessLimits,
    lateLinks: {
      list: (userId, sinceMs) => listLinkedSince(database.db, federation.providers, { userId, sinceMs }),
      remove: (trx, since) => unlinkAddedSince(trx, federation.providers, since),
    },
  });
  const contact = createContactDeps({
    ...accountDeps,
    contactBox: boxes.contact,
    password,
    revertContactChange: [
      removeFactorsAddedSince,
      removePasskeysAddedSince,
      (trx, since) => unlinkAddedSince(trx, federation.providers, since),
      (trx, since) => cancelDeletionsRequestedSince(trx, deletion, since),
      cancelResetsRequestedSince,
    ],
  });
  const deletion = createDeletion({
    ...accountDeps,
    outboxBox: boxes.outbox,
    personalDataSources: [
      grantsDataSource(database),
      clientSessionsDataSource(database, outbox),
      connectedAppHolding(database, now),
      signUpDataSource(database),
      billingDataSource(database),
      federationDataSource(database),
    ],
    membership: subscriptionOnDeletion(database, catalogue),
  });
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
      settleTrial: (user, way) =>
        membership.settleTrial(user, way === 'sign-up' ? catalogue.trial.days : catalogue.trial.postSignUpDays),
    },
    providers: () => federation.providers,
    findPendingAuthorization: oauth.findPendingAuthorization,
    toExpiredError: oauth.toExpiredError,
  });

  const federationHooks: FederationHooks = {
    completeSignIn: async (r, user, factor) =>
      redirectAfterSignIn(user, factor.continuation, await signIn.completeSignIn(r, user, factor)),
    completeReauthentication: async (r, user, factor) =>
      redirectAfterSignIn(user, factor.continuation, await signIn.completeReauthentication(r, user, factor)),
    nextRedirect: (user, continuation) => nextRedirect(user, continuation).address,
    requiresAllFactors: async ({ req }, { authorization }) =>
      authorization !== undefined &&
      (await oauth.findPendingAuthorization(req, authorization))?.requiresAllFactors === true,
    requiresFreshAuthentication: async ({ req }, { authorization }) =>
      authorization !== undefined &&
      (await oauth.findPendingAuthorization(req, authorization))?.requiresFreshAuthentication === true,
    afterFederatedSignUp: (user, continuation) => signUp.afterProvider(user, continuation),
    startEmailVerification: (r, address) => signUp.beginByProvider(r, address),
  };
  function redirectAfterSignIn(user: User, continuation: Continuation, entered: SignInResult) {
    if (entered.kind === 'second-factor-required') return entered;
    return { kind: entered.kind, address: nextRedirect(user, continuation).address };
  }
  const federation = createFederationModule({
    ...accountDeps,
    ...federationHooks,
    metrics,
    box: boxes.federation,
    limits,
    strategies: { publicUrl, config, file: loadProviders(config.PROVIDERS_FILE, process.env), now },
  });

  // Everything that follows a session, in this order. A sign-in first cancels a requested deletion.
  hooks.subscribe(
    { beforeSignIn: (req, user) => cancelDeletionOnSignIn(deletion, user, getRequestOrigin(req)) },
    oauth.sessionSubscriber,
  );

  return {
    publicUrl,
    cookies,
    brand,
    pages,
    searchAppUrl,
    wayOn: nextRedirect,
    billingNow,
    claimsOfMembership: getMembershipClaims,
    guessLimits,
    queueFull,
    visitorGate,
    digest,
    ofAccounts: accountDeps,
    session,
    sessions,
    devices,
    oauth,
    mfa,
    passkeys,
    membership,
    entrance: signIn,
    mailedCodes,
    password,
    contact,
    leaving: deletion,
    signUp,
    federation,
  };
}

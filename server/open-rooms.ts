import type { Request, Response } from 'express';
import { loadPlans } from '../config/plans.ts';
import { loadProviders } from '../config/providers.ts';
import type { User } from './account/index.ts';
import { createCodes } from './codes/index.ts';
import { guessLimitsOf, mediaOf, pageLinks, rateLimitsOf, sandboxLinks } from './config-of-rooms.ts';
import { openContact } from './contact/index.ts';
import type { Deps } from './deps.ts';
import { federationHolding, linkedSince, openFederation, type Upward, unlinkSince } from './federation/index.ts';
import { greetMembers } from './greet-members.ts';
import {
  brandStylesheet,
  createFormRecords,
  createPages,
  domainCookies,
  type Errand,
  hostCookies,
  type Pages,
} from './http/index.ts';
import { cancelResetsAskedSince, openLeaving } from './leaving/index.ts';
import {
  createCatalogue,
  createStripe,
  membershipClaims,
  membershipHolding,
  membershipOnLeaving,
  openMembership,
} from './membership/index.ts';
import { createTextMessages } from './messages/index.ts';
import { openMfa, removeFactorsAddedSince } from './mfa/index.ts';
import { clientSessionHolding, connectedAppHolding, oauthHolding, openOauth } from './oauth/index.ts';
import { openPasskeys, removePasskeysAddedSince } from './passkeys/index.ts';
import { createPasswordPolicy, openPassword } from './password/index.ts';
import { createVisitorGate } from './rate-limits/index.ts';
import { standInLinks } from './sandbox/index.ts';
import {
  createSessions,
  knownDevices,
  returningBrowsers,
  sessionCookie,
  sessionMiddleware,
  tellingOfNewDevices,
} from './session/index.ts';
import { dayMs, hourMs, keyedDigest, minuteMs } from './shared/index.ts';
import { createEntrance, createMailedCodes, createWayOn, type Entered } from './sign-in/index.ts';
import { openSignUp, signUpHolding } from './sign-up/index.ts';
import { deriveKey, type VisitorData } from './store/index.ts';

/**
 * Opens every room, in the order in which each needs those before it; requests pass through them as `app.ts` says.
 * @param fail answers what went wrong where no handler of Express is near
 */
export async function openRooms(
  deps: Deps & { visitorData: VisitorData },
  fail: (pages: Pages) => (req: Request, res: Response, error: unknown) => void,
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
    mediaUrl: mediaOf(config)?.url,
    endAddress: config.SEARCH_APP_URL,
    links: pageLinks(config),
    sandbox: sandboxLinks(config),
    formRecords: createFormRecords({ cookies, box: boxes.forms, sessionCookie, now }),
  });
  const searchAppUrl = config.SEARCH_APP_URL ?? standInLinks.search;
  const wayOn = createWayOn({
    publicUrl,
    searchAppUrl,
    terms,
    plansAreSold: config.STRIPE_SECRET_KEY !== undefined,
    now,
  });
  const signedIn = (req: Request, user: User) => leaving.signedIn(req, user);
  const catalogue = createCatalogue(loadPlans(config.PLANS_FILE));
  const billingNow = deps.billingNow ?? now;
  const claimsOfMembership = membershipClaims(catalogue, billingNow);
  const limits = rateLimitsOf(config, deps);
  const oauth = await openOauth({
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
    wayOn,
    membershipClaims: claimsOfMembership,
    catalogue,
    plansAreSold: config.STRIPE_SECRET_KEY !== undefined,
    providersOut: {
      wayOut: (upstream, returnTo) => federation.wayOut(upstream, returnTo),
      endsThere: (upstream) => federation.endsThere(upstream),
    },
    sessions: (links) =>
      greetMembers(createSessions({ kv, database, cookies, lifetimes, metrics, now, links, signedIn }), {
        database,
        media: mediaOf(config),
      }),
  });
  const { sessions } = oauth;
  const session = sessionMiddleware({ kv, cookies, cookieKeys, lifetimes });
  const marks = knownDevices(cookies, deriveKey(config.SECRET_KEYS[0] ?? '', 'known devices', 32));
  const devices = tellingOfNewDevices(
    {
      ...marks,
      remember(req, res, user) {
        marks.remember(req, res, user);
        returning.mark(req, res);
      },
    },
    { database, kv, outbox, log, now },
  );
  const queueFull = { status: config.PASSWORD_QUEUE_FULL_STATUS, retrySeconds: config.PASSWORD_QUEUE_RETRY_SECONDS };
  const codes = createCodes({ kv, key: deriveKey(config.SECRET_KEYS[0] ?? '', 'one-time codes', 32) });
  const policy = createPasswordPolicy({ breachedApi: config.BREACHED_PASSWORDS_API, log });
  const guessLimits = guessLimitsOf(config, limits);
  const { smsOffered } = deps;
  const digest = keyedDigest(deriveKey(config.SECRET_KEYS[0] ?? '', 'recipients of messages', 32));
  const texts = createTextMessages({
    kv,
    outbox,
    digest,
    countries: config.SMS_COUNTRIES,
    limits,
  });
  /** What the rooms of accounts that people make and recover have in common. */
  const ofAccounts = {
    ...{ publicUrl, pages, log, database, kv, cookies, now },
    ...{ passwords, policy, codes, outbox, texts, smsOffered, sessions, devices, queueFull },
    brandName: config.BRAND_NAME,
    uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
  };
  const mfa = openMfa({
    ...ofAccounts,
    mfaBox: boxes.mfa,
    limits,
    rememberDays: config.MFA_REMEMBER_DAYS,
  });
  const passkeys = openPasskeys({
    ...ofAccounts,
    secret: deriveKey(config.SECRET_KEYS[0] ?? '', 'passkey challenges', 32),
  });
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_API_URL: apiUrl } = config;
  const membership = openMembership({
    ...ofAccounts,
    catalogue,
    stripe: secretKey === undefined ? undefined : createStripe({ secretKey, apiUrl }),
    webhookSecret: config.STRIPE_WEBHOOK_SECRET,
    limits,
    metrics,
    trialKey: deriveKey(config.SECRET_KEYS[0] ?? '', 'trials', 32),
    now: billingNow,
  });
  const entrance = createEntrance({ mfa, sessions, devices, wayOn, pages, now });
  const mailedCodes = createMailedCodes({ ...ofAccounts, limits });
  const password = openPassword({
    ...ofAccounts,
    limits: guessLimits,
    lateLinks: {
      list: (userId, sinceMs) => linkedSince(database.db, federation.providers, userId, sinceMs),
      remove: (trx, ...which) => unlinkSince(trx, federation.providers, ...which),
    },
  });
  const contact = openContact({
    ...ofAccounts,
    contactBox: boxes.contact,
    wayToLateWaysIn: password.wayToLateWaysIn,
    forgetGuesses: password.forgetGuesses,
    takeBack: [
      removeFactorsAddedSince,
      removePasskeysAddedSince,
      (trx, ...which) => unlinkSince(trx, federation.providers, ...which),
      (trx, userId, sinceMs) => leaving.takeBack(trx, userId, sinceMs),
      cancelResetsAskedSince,
    ],
  });
  const leaving = openLeaving({
    ...ofAccounts,
    outboxBox: boxes.outbox,
    holdings: [
      oauthHolding(database),
      clientSessionHolding(database, outbox),
      connectedAppHolding(database, now),
      signUpHolding(database),
      membershipHolding(database),
      federationHolding(database),
    ],
    membership: membershipOnLeaving(database, catalogue),
  });
  const signUp = openSignUp({
    ...ofAccounts,
    entrance,
    metrics,
    legal,
    wayOn,
    limits,
    plans: {
      sold: membership.sold,
      knows: (planKey) => catalogue.byKey(planKey) !== undefined,
      settleTrial: (user, way) =>
        membership.settleTrial(user, way === 'sign-up' ? catalogue.trial.days : catalogue.trial.postSignUpDays),
    },
    providers: () => federation.providers,
    pendingRequest: oauth.pendingRequest,
    requestOver: oauth.requestOver,
  });

  const upward: Upward = {
    enter: async (req, res, user, shown) =>
      addressAfter(user, shown.errand, await entrance.enter(req, res, user, shown)),
    enterAgain: async (req, res, user, shown) =>
      addressAfter(user, shown.errand, await entrance.enterAgain(req, res, user, shown)),
    wayOn: (user, errand) => wayOn(user, errand).address,
    wantsEveryFactor: async (req, { authorization }) =>
      authorization !== undefined && (await oauth.pendingRequest(req, authorization))?.wantsEveryFactor === true,
    wantsAnew: async (req, { authorization }) =>
      authorization !== undefined && (await oauth.pendingRequest(req, authorization))?.wantsAnew === true,
    afterSignUp: (user, errand) => signUp.afterProvider(user, errand),
    beginUnverified: (req, res, identity, more) => signUp.beginByProvider(req, res, identity, more),
  };
  function addressAfter(user: User, errand: Errand, entered: Entered) {
    if (entered.kind === 'challenged') return entered;
    return { kind: entered.kind, address: wayOn(user, errand).address };
  }
  const federation = openFederation({
    ...ofAccounts,
    ...upward,
    metrics,
    box: boxes.federation,
    limits,
    strategies: { publicUrl, config, file: loadProviders(config.PROVIDERS_FILE, process.env), now },
  });

  return {
    ...{
      publicUrl,
      cookies,
      brand,
      pages,
      searchAppUrl,
      wayOn,
      billingNow,
      claimsOfMembership,
      guessLimits,
      queueFull,
      visitorGate,
      digest,
    },
    ...{ ofAccounts, session, sessions, devices },
    ...{ oauth, mfa, passkeys, membership, entrance, mailedCodes, password, contact, leaving, signUp, federation },
  };
}

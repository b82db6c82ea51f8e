import type { RequestListener } from 'node:http';
import express, { type Express, type Request, type Response, Router } from 'express';
import { loadPlans } from '../config/plans.ts';
import { accountOperations, memberRecipients, setLocale, type User } from './account/index.ts';
import { checkoutRoutes } from './checkout/index.ts';
import { createCodes } from './codes/index.ts';
import {
  cardLimitsOf,
  guessLimitsOf,
  pageLinks,
  sandboxLinks,
  signUpLimitsOf,
  standInForStripe,
  stripeForBrowsers,
  textLimitsOf,
} from './config-of-rooms.ts';
import { openContact } from './contact/index.ts';
import { type Deps, mailLook } from './deps.ts';
import { greetMembers } from './greet-members.ts';
import {
  alive,
  answerProbe,
  apiRoutes,
  asHttpError,
  bodies,
  brandStylesheet,
  chooseLanguage,
  createFront,
  createPages,
  domainCookies,
  errorHandler,
  type Guard,
  hostCookies,
  measureRequests,
  methodNotAllowed,
  notFound,
  type Operation,
  openApiDocument,
  publicAddress,
  type Readiness,
  ready,
  refuseCrossSite,
  requestLog,
  securityHeaders,
  sendError,
  serveBrand,
  staticFiles,
} from './http/index.ts';
import { cancelResetsAskedSince, type LeavingRoom, openLeaving } from './leaving/index.ts';
import { imprintRoute } from './legal/index.ts';
import {
  createCatalogue,
  createStripe,
  type MembershipRoom,
  membershipClaims,
  membershipHolding,
  membershipOnLeaving,
  membershipOperations,
  openMembership,
  planChanges,
} from './membership/index.ts';
import { createTextMessages, messageOperations } from './messages/index.ts';
import { openMfa, removeFactorsAddedSince } from './mfa/index.ts';
import { type OauthRoom, oauthHolding, openOauth, routes } from './oauth/index.ts';
import { openPasskeys, removePasskeysAddedSince } from './passkeys/index.ts';
import { createPasswordPolicy, openPassword } from './password/index.ts';
import { createSandboxMailbox, onlyFromThisMachine, sandboxRoutes, standInLinks } from './sandbox/index.ts';
import {
  createSessions,
  knownDevices,
  sessionCookie,
  sessionMiddleware,
  tellingOfNewDevices,
} from './session/index.ts';
import { settingsOperations, settingsRoutes } from './settings/index.ts';
import { createEntrance, createWayOn, signInRoutes } from './sign-in/index.ts';
import { openSignUp, signUpHolding } from './sign-up/index.ts';
import { deriveKey } from './store/index.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export interface App {
  app: RequestListener;
  /** Behind it, with all routes. */
  express: Express;
  oauth: OauthRoom;
  leaving: LeavingRoom;
  membership: MembershipRoom;
  /** The JSON API, and what stands before each of its calls. */
  operations: readonly Operation[];
  guard: Guard;
  /** What /readyz answers. */
  readiness: Readiness;
  /** Stops what runs by itself. */
  stop(): Promise<void>;
}

/** The middleware order and the one list of rooms. */
export async function createApp(deps: Deps): Promise<App> {
  const { config, log, database, kv, assets, clientDir, passwords, boxes, outbox, legal, terms, metrics, now } = deps;
  const publicUrl = config.PUBLIC_URL;
  const rememberMs = config.REMEMBER_ME_DAYS * dayMs;
  const idleMs = config.SESSION_IDLE_MINUTES * minuteMs;
  const cookieKeys = config.SECRET_KEYS.map((key) => deriveKey(key, 'cookie signatures', 32).toString('base64url'));
  const cookies = hostCookies(config.https);
  const brand = config.BRAND_ACCENT === undefined ? undefined : brandStylesheet(config.BRAND_ACCENT);
  const pages = createPages({
    assets,
    cookies,
    brandName: config.BRAND_NAME,
    brandLogoUrl: config.BRAND_LOGO_URL,
    brandCss: brand?.path,
    mediaUrl: config.MEDIA_URL,
    endAddress: config.SEARCH_APP_URL,
    links: pageLinks(config),
    sandbox: sandboxLinks(config),
  });
  const fail = (req: Request, res: Response, error: unknown) => {
    // What went past Express does not know its ways yet.
    if (req.app === undefined) front.fail(req, res, error);
    else sendError(pages, log, asHttpError(error), req, res);
  };
  const searchAppUrl = config.SEARCH_APP_URL ?? standInLinks.search;
  const wayOn = createWayOn({
    publicUrl,
    searchAppUrl,
    terms,
    plansAreSold: config.STRIPE_SECRET_KEY !== undefined,
  });
  const signedIn = (req: Request, user: User) => leaving.signedIn(req, user);
  const catalogue = createCatalogue(loadPlans(config.PLANS_FILE));
  const billingNow = deps.billingNow ?? now;
  const claimsOfMembership = membershipClaims(catalogue, billingNow);
  const oauth = await openOauth({
    publicUrl,
    development: !config.production,
    rememberMs,
    idleMs,
    keysRefreshMs: config.KEYS_REFRESH_SECONDS * 1000,
    cookieKeys,
    database,
    kv,
    oidcBox: boxes.oidc,
    keysBox: boxes.keys,
    cookies,
    sharedCookies: config.COOKIE_DOMAIN === undefined ? cookies : domainCookies(config.https, config.COOKIE_DOMAIN),
    defaultClientId: config.DEFAULT_CLIENT_ID,
    pages,
    log,
    metrics,
    now,
    fail,
    wayOn,
    membershipClaims: claimsOfMembership,
    sessions: (links) =>
      greetMembers(
        createSessions({ kv, database, cookies, rememberMs, idleMs, metrics, now, links, signedIn }),
        config.MEDIA_URL,
      ),
  });
  const { sessions } = oauth;
  const session = sessionMiddleware({ kv, cookies, cookieKeys, idleMs });
  const marks = knownDevices(cookies, deriveKey(config.SECRET_KEYS[0] ?? '', 'known devices', 32));
  const devices = tellingOfNewDevices(marks, { database, kv, outbox, log, now });
  const queueFull = { status: config.PASSWORD_QUEUE_FULL_STATUS, retrySeconds: config.PASSWORD_QUEUE_RETRY_SECONDS };
  const codes = createCodes({ kv, key: deriveKey(config.SECRET_KEYS[0] ?? '', 'one-time codes', 32) });
  const policy = createPasswordPolicy({ breachedApi: config.BREACHED_PASSWORDS_API, log });
  const guessLimits = guessLimitsOf(config);
  const { smsOffered } = deps;
  const texts = createTextMessages({
    kv,
    outbox,
    countries: config.SMS_COUNTRIES,
    limits: textLimitsOf(config),
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
    limits: guessLimits,
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
    limits: cardLimitsOf(config),
    metrics,
    trialKey: deriveKey(config.SECRET_KEYS[0] ?? '', 'trials', 32),
    now: billingNow,
  });
  const entrance = createEntrance({ mfa, sessions, devices, wayOn, pages, now });
  const password = openPassword({ ...ofAccounts, limits: guessLimits });
  const contact = openContact({
    ...ofAccounts,
    contactBox: boxes.contact,
    wayToLatePasskeys: password.wayToLatePasskeys,
    takeBack: [
      removeFactorsAddedSince,
      removePasskeysAddedSince,
      (trx, userId, sinceMs) => leaving.takeBack(trx, userId, sinceMs),
      cancelResetsAskedSince,
    ],
  });
  const leaving = openLeaving({
    ...ofAccounts,
    outboxBox: boxes.outbox,
    holdings: [oauthHolding(database), signUpHolding(database), membershipHolding(database)],
    membership: membershipOnLeaving(database, catalogue),
  });
  const signUp = openSignUp({
    ...ofAccounts,
    entrance,
    metrics,
    legal,
    wayOn,
    limits: signUpLimitsOf(config),
    plans: { sold: membership.sold, knows: (planKey) => catalogue.byKey(planKey) !== undefined },
    pendingRequest: (req, id) => oauth.pendingRequest(req, id),
  });

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('trust proxy', config.TRUST_PROXY ?? false);

  const trusts: (address: string, hop: number) => boolean = app.get('trust proxy fn');
  const directCalls = oauth.directCalls(session);
  const ofEveryAnswer = [requestLog(log), securityHeaders({ https: config.https })];
  if (metrics.on)
    ofEveryAnswer.unshift(measureRequests(metrics, (method, path) => directCalls(method, path) !== undefined));
  if (!config.production) ofEveryAnswer.push(onlyFromThisMachine());
  const ourAddress = publicAddress(publicUrl, (address) => trusts(address, 0));
  const front = createFront(app, [...ofEveryAnswer, ourAddress], directCalls);
  app.use(front.failed, ...ofEveryAnswer);
  const readiness: Readiness = { draining: false };
  // Before the host is checked: whoever looks after the process asks by address.
  app.get('/healthz', alive);
  app.get(
    '/readyz',
    answerProbe({ secretKeys: config.SECRET_KEYS, publicUrl, kv, now }),
    ready(readiness, { database: () => database.ping(), keyValue: () => kv.ping() }),
  );
  app.use(ourAddress);
  if (brand) app.use(serveBrand(brand));
  app.use('/assets', staticFiles(clientDir));
  // Before anything reads bodies or refuses posts from elsewhere: Stripe signs every byte of them.
  membership.webhookRoutes(app);
  app.use(oauth.providerRoutes(session));
  const operations = [
    ...accountOperations({ database, membershipClaims: claimsOfMembership, plans: planChanges(membership), now }),
    ...membershipOperations(membership),
    ...signUp.operations,
    ...password.operations,
    ...settingsOperations({ database, kv, outbox, now }),
    ...mfa.operations,
    ...contact.operations,
    ...oauth.operations,
    ...messageOperations({
      database,
      kv,
      outbox,
      box: boxes.outbox,
      recipients: memberRecipients(database),
      templates: config.SENDGRID_TEMPLATES ?? new Map(),
      openTemplates: new Set(config.SENDGRID_OPEN_TEMPLATES),
      uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
      now,
    }),
  ];
  const document = openApiDocument(operations, {
    title: `${config.BRAND_NAME} API`,
    publicUrl,
    sessionCookie: cookies.name(sessionCookie),
    authorizationUrl: publicUrl + routes.authorization,
    tokenUrl: publicUrl + routes.token,
  });
  const guard = oauth.apiGuard(session);
  app.use(apiRoutes(operations, { guard, kv, document }));

  const rooms = Router({ caseSensitive: true, strict: true });
  rooms.use(refuseCrossSite(publicUrl), ...bodies(), session, oauth.tokenCookies);
  signInRoutes(rooms, {
    publicUrl,
    pages,
    log,
    metrics,
    database,
    kv,
    passwords,
    sessions,
    devices,
    mfa,
    entrance,
    passkeys,
    limits: guessLimits,
    uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
    queueFull,
    terms,
    legal,
    wayOn,
    confirmations: signUp.confirmations,
    now,
    pendingRequest: (req, id) => oauth.pendingRequest(req, id),
  });
  signUp.pageRoutes(rooms);
  checkoutRoutes(rooms, {
    ...ofAccounts,
    searchAppUrl,
    wayOn,
    membership,
    stripe: stripeForBrowsers(config),
    wayToConfirm: signUp.wayToConfirm,
    planKeyOf: signUp.planKeyOf,
    now: billingNow,
    pendingRequest: (req, id) => oauth.pendingRequest(req, id),
  });
  password.pageRoutes(rooms);
  const settingsBoxes = { mfaBox: boxes.mfa, contactBox: boxes.contact };
  settingsRoutes(rooms, {
    ...{ ...ofAccounts, ...settingsBoxes, mfa, passkeys, wayOn, terms, password, contact, leaving, membership },
    stripe: stripeForBrowsers(config),
    billingNow,
  });
  contact.pageRoutes(rooms);
  leaving.pageRoutes(rooms);
  oauth.pageRoutes(rooms);
  imprintRoute(rooms, { pages, legal, greet: sessions.member });
  const keepForMember = async (req: Request, language: string) => {
    const member = await sessions.member(req);
    if (member) await setLocale(database.db, member.user.id, language, now());
  };
  rooms.route('/language').post(chooseLanguage({ cookies, publicUrl, keepForMember })).all(methodNotAllowed('POST'));
  if (config.SANDBOX)
    sandboxRoutes(rooms, {
      pages,
      sessions,
      mailbox: createSandboxMailbox({ kv, now }),
      look: mailLook(config),
      standIn: standInForStripe(config),
      dayPassed: async () => {
        await deps.billingTimeMoved?.();
        await membership.work();
      },
    });
  app.use(rooms);
  app.use(notFound(pages, sessions.member), errorHandler(pages, log));
  const stop = async () => {
    await Promise.all([oauth.stop(), signUp.stop(), mfa.stop(), leaving.stop(), membership.stop()]);
  };
  return { app: front.listener, express: app, oauth, leaving, membership, operations, guard, readiness, stop };
}

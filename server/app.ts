import type { RequestListener } from 'node:http';
import express, { type Express, type Request, type Response, Router } from 'express';
import {
  accountOperations,
  isDealPostponed,
  memberRecipients,
  postponePartnerDeal,
  setLocale,
} from './account/index.ts';
import { checkoutRoutes } from './checkout/index.ts';
import { mediaOf, mediaPath, standInForStripe, stripeForBrowsers } from './config-of-rooms.ts';
import { dashboardRoutes } from './dashboard/index.ts';
import { type Deps, mailLook } from './deps.ts';
import {
  alive,
  answerProbe,
  apiRoutes,
  asHttpError,
  behindRules,
  bodies,
  callersAddress,
  chooseLanguage,
  createFront,
  detectLanguages,
  errorHandler,
  type Guard,
  measureRequests,
  mediaFiles,
  methodNotAllowed,
  notFound,
  type Operation,
  oneHost,
  openApiDocument,
  type Pages,
  pageAccess,
  publicAddress,
  type Readiness,
  ready,
  refuseCrossSite,
  requestLog,
  requestOfForm,
  securityHeaders,
  sendError,
  serveBrand,
  staticFiles,
} from './http/index.ts';
import type { LeavingRoom } from './leaving/index.ts';
import { imprintRoute } from './legal/index.ts';
import { type MembershipRoom, membershipOperations, planChanges } from './membership/index.ts';
import { messageOperations } from './messages/index.ts';
import { discoveryPaths, type OauthRoom, routes } from './oauth/index.ts';
import { openRooms } from './open-rooms.ts';
import { pageGuard } from './page-guard.ts';
import { apiCallLimits } from './rate-limits/index.ts';
import { createSandboxMailbox, onlyFromThisMachine, sandboxRoutes } from './sandbox/index.ts';
import { sessionCookie } from './session/index.ts';
import { profileSaver, settingsOperations, settingsRoutes } from './settings/index.ts';
import { type MailedCodes, signInRoutes } from './sign-in/index.ts';
import { countVisitorData } from './store/index.ts';

export interface App {
  app: RequestListener;
  /** Behind it, with all routes. */
  express: Express;
  oauth: OauthRoom;
  leaving: LeavingRoom;
  membership: MembershipRoom;
  mailedCodes: MailedCodes;
  /** The JSON API, and what stands before each of its calls. */
  operations: readonly Operation[];
  guard: Guard;
  /** What /readyz answers. */
  readiness: Readiness;
  /** Stops what runs by itself. */
  stop(): Promise<void>;
}

/** Forms and calls by which a visitor begins what is kept: an account, a new password, a sign-in elsewhere. */
const visitorsForms = /^\/(?:signup(?:\/.*)?|forgot-password|federation\/[^/]+|identity\/(?:signUp|forgotPassword))$/;

/** The middleware order and the one list of routes. */
export async function createApp(given: Deps): Promise<App> {
  const visitorData = countVisitorData(given.kv, given.config.VISITOR_DATA_MAX_MB * 1_000_000);
  const deps = { ...given, kv: visitorData.kv, visitorData };
  const { config, log, database, kv, clientDir, passwords, boxes, outbox, legal, terms, metrics, now } = deps;
  const fail = (pages: Pages) => (req: Request, res: Response, error: unknown) => {
    // What went past Express does not know its ways yet.
    if (req.app === undefined) front.fail(req, res, error);
    else sendError(pages, log, asHttpError(error), req, res);
  };
  metrics.visitorData(async () => ({ bytes: await visitorData.bytes(), maxBytes: visitorData.maxBytes }));
  const rooms = await openRooms(deps, fail);
  const { publicUrl, cookies, brand, pages, searchAppUrl, wayOn, billingNow, claimsOfMembership } = rooms;
  const { guessLimits, queueFull, ofAccounts, session, sessions, devices } = rooms;
  const { oauth, mfa, passkeys, membership, entrance, mailedCodes, password, contact, leaving, signUp, federation } =
    rooms;

  const app = express();
  detectLanguages(app, cookies);
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('trust proxy', config.TRUST_PROXY ?? false);

  const trusts: (address: string, hop: number) => boolean = app.get('trust proxy fn');
  const directCalls = oauth.directCalls(session, (req) => callersAddress(req, trusts));
  const ofEveryAnswer = [requestLog(log), securityHeaders({ https: config.https, cookies }), oneHost];
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
  if (config.MEDIA_DIR !== undefined) app.use(mediaPath, mediaFiles(config.MEDIA_DIR));
  // Before anything reads bodies or refuses posts from elsewhere: Stripe signs every byte of them.
  membership.webhookRoutes(app);
  // As do identity providers (SAML), whose posts come from their own sites.
  federation.postRoutes(app);
  app.use(oauth.providerRoutes(session));
  const operations = [
    ...accountOperations({
      ...{ database, membershipClaims: claimsOfMembership, plans: planChanges(membership), now },
      saveProfile: profileSaver({ database, kv, outbox, now }),
      mediaUrl: mediaOf(config)?.url,
      introspection: !config.production,
    }),
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
      digest: rooms.digest,
      now,
    }),
  ];
  const document = openApiDocument(operations, {
    title: `${config.BRAND_NAME} API`,
    publicUrl,
    sessionCookie: cookies.name(sessionCookie),
    authorizationUrl: publicUrl + routes.authorization,
    tokenUrl: publicUrl + routes.token,
    openIdConnectUrl: publicUrl + discoveryPaths[0],
  });
  const guard = oauth.apiGuard(session);
  app.use(async (req, _res, next) => {
    if (req.method === 'POST' && visitorsForms.test(req.path)) await rooms.visitorGate.refuseWhenFull(req);
    next();
  });
  app.use(apiRoutes(operations, { guard, limits: apiCallLimits(kv), document }));

  const guardOf = pageGuard({ publicUrl, sessions, wayOn, now });
  const router = behindRules(Router({ caseSensitive: true, strict: true }), pageAccess, guardOf);
  router.use(refuseCrossSite(publicUrl), ...bodies(), requestOfForm(cookies), session, oauth.tokenCookies);
  signInRoutes(router, {
    publicUrl,
    pages,
    log,
    metrics,
    database,
    kv,
    cookies,
    passwords,
    firstPassword: password,
    sessions,
    devices,
    mfa,
    entrance,
    mailedCodes,
    passkeys,
    limits: guessLimits,
    uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
    queueFull,
    terms,
    legal,
    wayOn,
    confirmations: signUp.confirmations,
    federation,
    now,
    ...{ pendingRequest: oauth.pendingRequest, requestOver: oauth.requestOver, shortForm: oauth.shortForm },
  });
  federation.pageRoutes(router);
  signUp.pageRoutes(router);
  checkoutRoutes(router, {
    ...ofAccounts,
    searchAppUrl,
    wayOn,
    membership,
    stripe: stripeForBrowsers(config),
    wayToConfirm: signUp.wayToConfirm,
    planKeyOf: signUp.planKeyOf,
    now: billingNow,
    deals: {
      isPostponed: (user) => isDealPostponed(user, now()),
      postpone: async (user) => ({ ...user, dealAgainAt: await postponePartnerDeal(database.db, user.id, now()) }),
    },
    pendingRequest: (req, id) => oauth.pendingRequest(req, id),
  });
  password.pageRoutes(router);
  const settingsBoxes = { mfaBox: boxes.mfa, contactBox: boxes.contact };
  settingsRoutes(router, {
    ...{
      ...ofAccounts,
      ...settingsBoxes,
      mfa,
      passkeys,
      wayOn,
      terms,
      password,
      contact,
      leaving,
      membership,
      federation,
      connectedApps: oauth.connectedApps,
    },
    stripe: stripeForBrowsers(config),
    billingNow,
  });
  contact.pageRoutes(router);
  leaving.pageRoutes(router);
  oauth.pageRoutes(router);
  dashboardRoutes(router, {
    ...{ publicUrl, pages, log, database, sessions, wayOn, mayEnter: oauth.mayEnter },
    defaultClientId: config.DEFAULT_CLIENT_ID,
  });
  imprintRoute(router, { pages, legal, greet: sessions.member });
  const keepForMember = async (req: Request, language: string) => {
    const member = await sessions.member(req);
    if (member) await setLocale(database.db, member.user.id, language, now());
  };
  router.route('/language').post(chooseLanguage({ cookies, publicUrl, keepForMember })).all(methodNotAllowed('POST'));
  if (config.SANDBOX)
    sandboxRoutes(router, {
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
  app.use(router);
  app.use(notFound(pages, sessions.member), errorHandler(pages, log));
  const stop = async () => {
    await Promise.all([oauth.stop(), signUp.stop(), mfa.stop(), leaving.stop(), membership.stop()]);
  };
  return {
    app: front.listener,
    express: app,
    oauth,
    leaving,
    membership,
    mailedCodes,
    operations,
    guard,
    readiness,
    stop,
  };
}

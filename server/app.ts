import type { RequestListener } from 'node:http';
import express, { type Express, type Request, type Response, Router } from 'express';
import { accountOperations, accountRoutes, contactOperations, type Deletion, profileSaver } from './account/index.ts';
import { type BillingModule, checkoutRoutes, membershipOperations, planCommands } from './billing/index.ts';
import { mediaFromConfig, mediaPath, stripeForBrowsers } from './config-of-rooms.ts';
import type { Deps } from './deps.ts';
import type { Extensions } from './extensions.ts';
import {
  type ApiOperation,
  alive,
  apiRoutes,
  asHttpError,
  behindRules,
  bodies,
  clientIp,
  createDirectDispatcher,
  detectLanguages,
  errorHandler,
  type Guard,
  handleProbe,
  measureRequests,
  mediaFiles,
  methodNotAllowed,
  notFound,
  oneHost,
  onlyFromThisMachine,
  openApiDocument,
  type Pages,
  pageAccess,
  type Readiness,
  ready,
  rejectCrossSite,
  requestLog,
  requestOfForm,
  requirePublicHost,
  securityHeaders,
  sendError,
  serveBrand,
  staticFiles,
  submitLanguage,
} from './http/index.ts';
import { messageOperations } from './messages/index.ts';
import { mfaOperations } from './mfa/index.ts';
import { discoveryPaths, type OidcModule, routes } from './oidc/index.ts';
import { pageGuard } from './page-guard.ts';
import { passwordOperations, passwordRoutes } from './password/index.ts';
import { apiCallLimits } from './rate-limits/index.ts';
import { type Sessions, sessionCookie } from './sessions/index.ts';
import { imprintRoute, type MailedCodes, signInRoutes } from './sign-in/index.ts';
import { countVisitorData } from './store/index.ts';
import {
  createUserRecipients,
  isDealPostponed,
  postponePartnerDeal,
  setLocale,
  userOperations,
} from './users/index.ts';
import { wireModules } from './wiring.ts';

export interface App {
  app: RequestListener;
  /** The Express application behind it, with all routes. */
  express: Express;
  oauth: OidcModule;
  sessions: Sessions;
  deletion: Deletion;
  membership: BillingModule;
  mailedCodes: MailedCodes;
  /** The JSON API, and its guard. */
  operations: readonly ApiOperation[];
  guard: Guard;
  /** The answer of /readyz. */
  readiness: Readiness;
  /** Stops the periodic jobs. */
  stop(): Promise<void>;
}

/** Forms and calls with which a visitor stores data: a sign-up, a reset, a federated sign-in. */
const visitorsForms = /^\/(?:signup(?:\/.*)?|forgot-password|federation\/[^/]+|identity\/(?:signUp|forgotPassword))$/;

/**
 * The middleware order and the one list of routes.
 * @param extensions of development
 */
export async function createApp(input: Deps, extensions: Extensions = {}): Promise<App> {
  const visitorData = countVisitorData(input.kv, input.config.VISITOR_DATA_MAX_MB * 1_000_000);
  const deps = { ...input, kv: visitorData.kv, visitorData };
  const { config, log, database, kv, clientDir, passwords, boxes, outbox, legal, terms, metrics, now } = deps;
  const handleDirectError = (pages: Pages) => (req: Request, res: Response, error: unknown) => {
    // A direct call has not passed through Express.
    if (req.app === undefined) front.handleError(req, res, error);
    else sendError({ pages, log }, { req, res }, asHttpError(error));
  };
  metrics.visitorData(async () => ({ bytes: await visitorData.bytes(), maxBytes: visitorData.maxBytes }));
  const modules = await wireModules(deps, handleDirectError, extensions);
  const {
    publicUrl,
    cookies,
    brand,
    pages,
    searchAppUrl,
    wayOn: nextRedirect,
    billingNow,
    claimsOfMembership,
  } = modules;
  const { guessLimits, queueFull, ofAccounts, session, sessions, devices } = modules;
  const {
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
  } = modules;

  const app = express();
  detectLanguages(app, cookies);
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('trust proxy', config.TRUST_PROXY ?? false);

  const trusts: (address: string, hop: number) => boolean = app.get('trust proxy fn');
  const directCalls = oauth.directCalls(session, (req) => clientIp(req, trusts));
  const gates = [requestLog(log), securityHeaders({ https: config.https, cookies }), oneHost];
  if (metrics.on) gates.unshift(measureRequests(metrics, (method, path) => directCalls(method, path) !== undefined));
  if (!config.production) gates.push(onlyFromThisMachine());
  const publicHostGate = requirePublicHost(publicUrl, (address) => trusts(address, 0));
  const front = createDirectDispatcher(app, [...gates, publicHostGate], directCalls);
  app.use(front.errorBridge, ...gates);
  const readiness: Readiness = { draining: false };
  // Before the check of the host: probes use the address of the process.
  app.get('/healthz', alive);
  app.get(
    '/readyz',
    handleProbe({ secretKeys: config.SECRET_KEYS, publicUrl, kv, now }),
    ready(readiness, { database: () => database.ping(), keyValue: () => kv.ping() }),
  );
  app.use(publicHostGate);
  if (brand) app.use(serveBrand(brand));
  app.use('/assets', staticFiles(clientDir));
  if (config.MEDIA_DIR !== undefined) app.use(mediaPath, mediaFiles(config.MEDIA_DIR));
  // Before the body parsers and the guard against cross-site posts: Stripe signs every byte of the body.
  membership.webhookRoutes(app);
  // The same for identity providers (SAML), whose posts come from their own sites.
  federation.postRoutes(app);
  app.use(oauth.providerRoutes(session));
  const operations = [
    ...userOperations({
      database,
      membershipClaims: claimsOfMembership,
      plans: planCommands(membership),
      now,
      saveProfile: profileSaver({ database, kv, outbox, now }),
      mediaUrl: mediaFromConfig(config)?.url,
      introspection: !config.production,
    }),
    ...membershipOperations(membership),
    ...signUp.operations,
    ...passwordOperations(password),
    ...accountOperations({ database, kv, outbox, now }),
    ...mfaOperations(mfa),
    ...contactOperations(contact),
    ...oauth.operations,
    ...messageOperations({
      database,
      kv,
      outbox,
      box: boxes.outbox,
      recipients: createUserRecipients(database),
      templates: config.SENDGRID_TEMPLATES ?? new Map(),
      openTemplates: new Set(config.SENDGRID_OPEN_TEMPLATES),
      uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
      digest: modules.digest,
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
    if (req.method === 'POST' && visitorsForms.test(req.path)) await modules.visitorGate.refuseWhenFull(req);
    next();
  });
  app.use(apiRoutes(operations, { guard, limits: apiCallLimits(kv), document }));

  const createGuards = pageGuard({ publicUrl, sessions, nextRedirect, now });
  const router = behindRules(
    Router({ caseSensitive: true, strict: true }),
    { ...extensions.routes?.access, ...pageAccess },
    createGuards,
  );
  router.use(rejectCrossSite(publicUrl), ...bodies(), requestOfForm(cookies), session, oauth.tokenCookies);
  signInRoutes(router, {
    publicUrl,
    pages,
    log,
    metrics,
    database,
    kv,
    cookies,
    passwords,
    password,
    sessions,
    devices,
    mfa,
    signIn,
    mailedCodes,
    passkeys,
    limits: guessLimits,
    uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
    queueFull,
    terms,
    legal,
    nextRedirect,
    confirmations: signUp.confirmations,
    federation,
    now,
    findPendingAuthorization: oauth.findPendingAuthorization,
    toExpiredError: oauth.toExpiredError,
    resolveShorthand: oauth.resolveShorthand,
  });
  federation.pageRoutes(router);
  signUp.pageRoutes(router);
  checkoutRoutes(router, {
    ...ofAccounts,
    searchAppUrl,
    nextRedirect,
    membership,
    stripe: stripeForBrowsers(config),
    verifyEmailUrl: signUp.verifyEmailUrl,
    findPlanKey: signUp.findPlanKey,
    now: billingNow,
    deals: {
      isPostponed: (user) => isDealPostponed(user, now()),
      postpone: async (user) => ({ ...user, dealAgainAt: await postponePartnerDeal(database.db, user.id, now()) }),
    },
    findPendingAuthorization: (req, id) => oauth.findPendingAuthorization(req, id),
  });
  passwordRoutes(router, password);
  const settingsBoxes = { mfaBox: boxes.mfa, contactBox: boxes.contact };
  accountRoutes(router, {
    ...ofAccounts,
    ...settingsBoxes,
    mfa,
    passkeys,
    nextRedirect,
    terms,
    password,
    contact,
    deletion,
    membership,
    federation,
    connectedApps: oauth.connectedApps,
    stripe: stripeForBrowsers(config),
    billingNow,
  });
  oauth.pageRoutes(router);
  imprintRoute(router, { pages, legal, loadPageUser: sessions.getCurrentUser });
  const saveForUser = async (req: Request, language: string) => {
    const member = await sessions.getCurrentUser(req);
    if (member) await setLocale(database.db, member.user.id, { locale: language, nowMs: now() });
  };
  router.route('/language').post(submitLanguage({ cookies, publicUrl, saveForUser })).all(methodNotAllowed('POST'));
  extensions.routes?.add(router, { pages, sessions, runBillingJobs: membership.work });
  app.use(router);
  app.use(notFound(pages, sessions.getCurrentUser), errorHandler(pages, log));
  const stop = async () => {
    await Promise.all([oauth.stop(), signUp.stop(), mfa.stop(), deletion.stop(), membership.stop()]);
  };
  return {
    app: front.listener,
    express: app,
    oauth,
    sessions,
    deletion,
    membership,
    mailedCodes,
    operations,
    guard,
    readiness,
    stop,
  };
}

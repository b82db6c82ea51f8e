import type { RequestListener } from 'node:http';
import express, { type Request, type Response, Router } from 'express';
import type { Deps } from './deps.ts';
import {
  alive,
  asHttpError,
  bodies,
  chooseLanguage,
  createFront,
  createPages,
  errorHandler,
  hostCookies,
  methodNotAllowed,
  notFound,
  publicAddress,
  type Readiness,
  ready,
  refuseCrossSite,
  requestLog,
  securityHeaders,
  sendError,
  staticFiles,
} from './http/index.ts';
import { type OauthRoom, openOauth } from './oauth/index.ts';
import { onlyFromThisMachine, sandboxRoutes } from './sandbox/index.ts';
import { createSessions, knownDevices, sessionMiddleware } from './session/index.ts';
import { createWayOn, signInRoutes } from './sign-in/index.ts';
import { deriveKey } from './store/index.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export interface App {
  app: RequestListener;
  oauth: OauthRoom;
  /** What /readyz answers. */
  readiness: Readiness;
  /** Stops what runs by itself. */
  stop(): Promise<void>;
}

/** The middleware order and the one list of rooms. */
export async function createApp(deps: Deps): Promise<App> {
  const { config, log, database, kv, assets, clientDir, passwords, boxes, terms, now } = deps;
  const publicUrl = config.PUBLIC_URL;
  const rememberMs = config.REMEMBER_ME_DAYS * dayMs;
  const idleMs = config.SESSION_IDLE_MINUTES * minuteMs;
  const cookieKeys = config.SECRET_KEYS.map((key) => deriveKey(key, 'cookie signatures', 32).toString('base64url'));
  const cookies = hostCookies(config.https);
  const pages = createPages({
    assets,
    cookies,
    brandName: config.BRAND_NAME,
    links: {
      terms: '/tos',
      ...(config.HELP_URL !== undefined && { help: config.HELP_URL }),
      ...(config.PRIVACY_URL !== undefined && { privacy: config.PRIVACY_URL }),
    },
    sandbox: config.SANDBOX,
  });
  const fail = (req: Request, res: Response, error: unknown) => {
    // What went past Express does not know its ways yet.
    if (req.app === undefined) front.fail(req, res, error);
    else sendError(pages, log, asHttpError(error), req, res);
  };
  const wayOn = createWayOn({
    publicUrl,
    searchAppUrl: config.SEARCH_APP_URL ?? '/sandbox/search',
    terms,
    plansAreSold: false,
  });
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
    pages,
    log,
    now,
    fail,
    wayOn,
    sessions: (links) => createSessions({ kv, database, cookies, rememberMs, idleMs, now, links }),
  });
  const { sessions } = oauth;
  const session = sessionMiddleware({ kv, cookies, cookieKeys, idleMs });

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('trust proxy', config.TRUST_PROXY ?? false);

  const trusts: (address: string, hop: number) => boolean = app.get('trust proxy fn');
  const ofEveryAnswer = [requestLog(log), securityHeaders({ https: config.https })];
  if (!config.production) ofEveryAnswer.push(onlyFromThisMachine());
  const ourAddress = publicAddress(publicUrl, (address) => trusts(address, 0));
  const front = createFront(app, [...ofEveryAnswer, ourAddress], oauth.directCalls(session));
  app.use(front.failed, ...ofEveryAnswer);
  const readiness: Readiness = { draining: false };
  // Before the host is checked: whoever looks after the process asks by address.
  app.get('/healthz', alive);
  app.get('/readyz', ready(readiness, { database: () => database.ping(), keyValue: () => kv.ping() }));
  app.use(ourAddress);
  app.use('/assets', staticFiles(clientDir));
  app.use(oauth.providerRoutes(session));

  const rooms = Router({ caseSensitive: true, strict: true });
  rooms.use(refuseCrossSite(publicUrl), ...bodies(), session);
  signInRoutes(rooms, {
    publicUrl,
    pages,
    log,
    database,
    kv,
    passwords,
    sessions,
    devices: knownDevices(cookies, deriveKey(config.SECRET_KEYS[0] ?? '', 'known devices', 32)),
    limits: {
      windowMs: config.GUESS_WINDOW_MINUTES * minuteMs,
      account: config.GUESS_LIMIT_ACCOUNT,
      device: config.GUESS_LIMIT_DEVICE,
      address: config.GUESS_LIMIT_ADDRESS,
      overall: config.GUESS_LIMIT_OVERALL,
    },
    uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
    queueFull: { status: config.PASSWORD_QUEUE_FULL_STATUS, retrySeconds: config.PASSWORD_QUEUE_RETRY_SECONDS },
    terms,
    wayOn,
    now,
    pendingRequest: (req, id) => oauth.pendingRequest(req, id),
  });
  oauth.pageRoutes(rooms);
  rooms.route('/language').post(chooseLanguage(cookies, publicUrl)).all(methodNotAllowed('POST'));
  if (config.SANDBOX) sandboxRoutes(rooms, { pages, sessions });
  app.use(rooms);
  app.use(notFound(pages), errorHandler(pages, log));
  return { app: front.listener, oauth, readiness, stop: () => oauth.stop() };
}

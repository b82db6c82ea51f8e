import type { IncomingMessage, RequestListener } from 'node:http';
import type { Express, Request, Response } from 'express';
import { ProvidersFileError } from '../config/providers.ts';
import type { Deletion } from './account/index.ts';
import type { AuditTrail } from './audit/index.ts';
import { type BaseServices, createBaseServices } from './base-services.ts';
import type { BillingModule } from './billing/index.ts';
import type { Deps } from './deps.ts';
import type { Extensions } from './extensions.ts';
import type { FederationModule } from './federation/index.ts';
import {
  type ApiOperation,
  addBrandRoutes,
  admitRequests,
  alive,
  apiCallLimits,
  apiReferenceRoute,
  apiRoutes,
  asHttpError,
  clientIp,
  commonHeaders,
  createAdmissionGate,
  createDirectDispatcher,
  createErrorBridge,
  createExpress,
  createOverloadAnswers,
  type DirectPages,
  detectLanguages,
  errorHandler,
  type Guard,
  guardVisitorForms,
  handleProbe,
  type Logger,
  measureRequests,
  mediaFiles,
  notFound,
  oneHost,
  onlyFromThisMachine,
  type Readiness,
  ready,
  requestLog,
  requirePublicHost,
  securityHeaders,
  sendError,
  staticFiles,
} from './http/index.ts';
import { describeOperations, listOperations } from './json-api.ts';
import { mediaPath } from './module-settings.ts';
import type { OidcModule } from './oidc/index.ts';
import { createPageRouter } from './page-router.ts';
import { type Sessions, sessionCookie } from './sessions/index.ts';
import { type MailedCodes, prepareSignInPage } from './sign-in/index.ts';
import { countVisitorData, probeDatabase, probeKeyValue, schemaState } from './store/index.ts';
import { uploadedPictures, uploadFolder } from './users/index.ts';
import { type Modules, wireModules } from './wiring.ts';

export interface App {
  audit: AuditTrail;
  app: RequestListener;
  /** The Express application behind it, with all routes. */
  express: Express;
  oauth: OidcModule;
  sessions: Sessions;
  deletion: Deletion;
  membership: BillingModule;
  federation: FederationModule;
  mailedCodes: MailedCodes;
  /** The JSON API, and its guard. */
  operations: readonly ApiOperation[];
  guard: Guard;
  /** The answer of /readyz. */
  readiness: Readiness;
  /** Reads PROVIDERS_FILE again. A file with faults is logged, and changes nothing. */
  reload(): void;
  /** Stops the periodic jobs. */
  stop(): Promise<void>;
}

/**
 * The order in which requests pass middleware and routers.
 * @param extensions of development
 */
export async function createApp(input: Deps, extensions: Extensions = {}): Promise<App> {
  const { config, log, database, clientDir, metrics, now } = input;
  const visitorData = countVisitorData(input.kv, config.VISITOR_DATA_MAX_MB * 1_000_000);
  const deps = { ...input, kv: visitorData.kv, visitorData };
  const { kv } = deps;
  metrics.visitorData(async () => ({ bytes: await visitorData.bytes(), maxBytes: visitorData.maxBytes }));
  const base = createBaseServices(deps, extensions);
  const { publicUrl, cookies, brandFiles, pages, session, sessions, visitorGate } = base;

  const { app, trusts } = createExpress(config.TRUST_PROXY);
  detectLanguages(app, cookies);
  const bridge = createErrorBridge(app);
  const fail = (req: Request, res: Response, error: unknown) => {
    // A direct call has not passed through Express.
    if (req.app === undefined) bridge.handleError(req, res, error);
    else sendError({ pages, log }, { req, res }, asHttpError(error));
  };
  const modules = await wireModules(deps, base, { fail, onRefusal: extensions.onRefusal, toExpress: bridge.toExpress });
  const { audit, oauth, mfa, membership, mailedCodes, deletion, signUp, federation } = modules;

  const directCalls = oauth.directCalls(session, (req) => clientIp(req, trusts));
  const gates = [requestLog(log), securityHeaders({ https: config.https, cookies }), oneHost];
  const directPages: DirectPages = new Map(
    pages.canPrepare ? [['/', prepareSignInPage({ ...modules.accountDeps, ...modules })]] : [],
  );
  const direct = new Set([...directCalls.keys(), ...[...directPages.keys()].map((path) => `GET ${path}`)]);
  if (metrics.on) gates.unshift(measureRequests(metrics, direct));
  if (!config.production) gates.push(onlyFromThisMachine());
  const publicHostGate = requirePublicHost(publicUrl, (address) => trusts(address, 0));
  app.use(bridge.middleware, ...gates);
  const readiness: Readiness = { draining: false };
  // Before the check of the host: probes use the address of the process.
  app.get('/healthz', alive);
  const stores = { database: probeDatabase(database), keyValue: probeKeyValue(kv) };
  const isReady = ready(readiness, { stores, schema: () => schemaState(database) });
  app.get('/readyz', handleProbe({ secretKeys: config.SECRET_KEYS, publicUrl, kv, now }), isReady);
  app.use(publicHostGate);
  addBrandRoutes(app, brandFiles);
  app.use('/assets', staticFiles(clientDir));
  if (config.MEDIA_URL === undefined) app.use(`${mediaPath}/${uploadFolder}`, uploadedPictures(database));
  if (config.MEDIA_DIR !== undefined) app.use(mediaPath, mediaFiles(config.MEDIA_DIR));
  // Before the body parsers and the guard against cross-site posts: Stripe signs every byte of the body.
  membership.webhookRoutes(app);
  // The same for identity providers (SAML), whose posts come from their own sites.
  federation.postRoutes(app);
  app.use(oauth.providerRoutes(session));
  const operations = listOperations(deps, base, modules);
  const guard = oauth.apiGuard(session);
  app.use(guardVisitorForms(visitorGate));
  const limits = apiCallLimits(kv, base.limits, config.API_LIMIT_CALLS);
  const describe = describeOperations(operations, deps, base);
  app.use(apiRoutes(operations, { guard, limits, describe, isScriptOrigin: oauth.isScriptOrigin }));
  app.use(apiReferenceRoute(pages, describe));
  app.use(createPageRouter({ deps, base, modules }, extensions));
  app.use(notFound(pages, sessions.getCurrentUser), errorHandler(pages, log));

  const listener = createDirectDispatcher(
    app,
    { calls: directCalls, pages: directPages },
    { ...bridge, gates: [...gates, publicHostGate] },
  );
  const jobs = [oauth, signUp, mfa, deletion, membership, federation];
  const stop = async () => {
    await Promise.all(jobs.map((module) => module.stop()));
    // The last one: it seals the events of the others.
    await audit.stop();
  };
  const reload = () => reloadProviders(modules, log);
  const parts = { audit, oauth, sessions, deletion, membership, federation, mailedCodes, operations, guard, readiness };
  const gate = createGate(deps, base, (req) => clientIp(req, trusts));
  return {
    app: admitRequests(listener, gate),
    express: app,
    ...parts,
    reload,
    stop,
  };
}

/** The gate before everything: what this process has no capacity for is refused. */
const createGate = (
  { config, passwords, metrics, log }: Pick<Deps, 'config' | 'passwords' | 'metrics' | 'log'>,
  { pages, cookies, returning, queueFull }: BaseServices,
  getAddress: (req: IncomingMessage) => string,
) =>
  createAdmissionGate({
    limits: { requests: config.REQUESTS_MAX, turnMs: config.REQUESTS_DELAY_MS },
    passwords: {
      limits: {
        waiting: config.PASSWORD_QUEUE_MAX,
        waitMs: config.PASSWORD_QUEUE_WAIT_MS,
        address: config.PASSWORD_QUEUE_ADDRESS,
      },
      state: passwords.queue ?? (() => ({ running: 0, waiting: 0, turnMs: 0 })),
    },
    answers: createOverloadAnswers({
      pages,
      cookies,
      headers: commonHeaders(config.https),
      passwords: queueFull,
    }),
    cookies,
    sessionCookie,
    findReturning: returning.find,
    getAddress,
    metrics,
    log,
  });

function reloadProviders({ reloadProviders: reload }: Pick<Modules, 'reloadProviders'>, log: Logger): void {
  try {
    reload();
    log.info('the providers were read again');
  } catch (error) {
    const why = error instanceof ProvidersFileError ? { faults: error.faults } : { err: error };
    log.error(why, 'the providers cannot be read again: those in force stay');
  }
}

import type { Deps } from './deps.ts';
import type { Extensions } from './extensions.ts';
import { createHooks } from './hooks.ts';
import {
  brandStylesheet,
  createFormRecords,
  createPageSender,
  createPages,
  createSingleUseNotices,
  createVisitorGate,
  domainCookies,
  homeScreenFiles,
  hostCookies,
  stylesheetFile,
} from './http/index.ts';
import { createCodes, createSmsSender } from './messages/index.ts';
import {
  guessLimitsFromConfig,
  mediaFromConfig,
  pageLinks,
  picturesFromConfig,
  toRateLimits,
} from './module-settings.ts';
import { createPasswordPolicy } from './password/index.ts';
import {
  createDeviceRecognition,
  createKnownDevices,
  createSessionReader,
  createSessionStore,
  createSessions,
  returningBrowsers,
  sessionCookie,
  sessionMiddleware,
} from './sessions/index.ts';
import { dayMs, hourMs, keyedDigest, minuteMs } from './shared/index.ts';
import { createNextRedirect } from './sign-in/index.ts';
import { deriveKey, type VisitorData } from './store/index.ts';
import { createPageUserSetter, createPictureClaim, listWithheldFields } from './users/index.ts';

/** The dependencies of all modules: the product's, with the count of data of visitors. */
export type AppDeps = Deps & { visitorData: VisitorData };

/** A key of its own for each purpose. */
const keysFor =
  ({ config }: AppDeps) =>
  (purpose: string) =>
    deriveKey(config.SECRET_KEYS[0] ?? '', purpose, 32);

/** Cookies, pages and limits: services without users. */
function createWebServices(deps: AppDeps, extensions: Extensions) {
  const { config, kv, assets, boxes, metrics, visitorData, now } = deps;
  const key = keysFor(deps);
  const cookies = hostCookies(config.https);
  const brand = config.BRAND_ACCENT === undefined ? undefined : brandStylesheet(config.BRAND_ACCENT);
  const homeScreen = homeScreenFiles({ name: config.BRAND_NAME, accent: config.BRAND_ACCENT, icon: assets.icon });
  const returning = returningBrowsers(cookies, key('returning browsers'));
  const limits = toRateLimits(config, deps);
  return {
    key,
    publicUrl: config.PUBLIC_URL,
    searchAppUrl: config.SEARCH_APP_URL ?? extensions.links?.search ?? '/',
    cookies,
    sharedCookies: config.COOKIE_DOMAIN === undefined ? cookies : domainCookies(config.https, config.COOKIE_DOMAIN),
    cookieKeys: config.SECRET_KEYS.map((secret) => deriveKey(secret, 'cookie signatures', 32).toString('base64url')),
    brandFiles: [homeScreen.manifest, homeScreen.touchIcon, ...(brand ? [stylesheetFile(brand)] : [])],
    pages: createPages({
      assets: {
        ...assets,
        homeScreen: { manifest: homeScreen.manifest.path, touchIcon: homeScreen.touchIcon.path },
      },
      brandName: config.BRAND_NAME,
      brandLogoUrl: config.BRAND_LOGO_URL,
      brandCss: brand?.path,
      mediaUrl: mediaFromConfig(config)?.url,
      endAddress: config.SEARCH_APP_URL,
      links: pageLinks(config, extensions.links),
      banner: extensions.layoutBanner,
      extraCss: extensions.assets && assets.style(extensions.assets.stylesheet),
      formRecords: createFormRecords({ cookies, box: boxes.forms, sessionCookie, now }),
      notices: createSingleUseNotices({ cookies, box: boxes.forms, now }),
      sendPage: createPageSender(cookies),
    }),
    returning,
    visitorGate: createVisitorGate({ kv, data: visitorData, isReturning: returning.is, metrics }),
    limits,
    guessLimits: guessLimitsFromConfig(config, limits),
    queueFull: { status: config.PASSWORD_QUEUE_FULL_STATUS, retrySeconds: config.PASSWORD_QUEUE_RETRY_SECONDS },
  };
}

/** The hooks, sessions and known devices. `wiring.ts` lists the subscribers when all modules exist. */
function createSessionServices(deps: AppDeps, web: ReturnType<typeof createWebServices>) {
  const { config, database, kv, outbox, log, metrics, terms, now, hooks = createHooks() } = deps;
  const { cookies, cookieKeys, key, publicUrl, searchAppUrl, returning } = web;
  const lifetimes = {
    idleMs: config.SESSION_IDLE_MINUTES * minuteMs,
    rememberMs: config.REMEMBER_ME_DAYS * dayMs,
    maxMs: config.SESSION_MAX_HOURS * hourMs,
  };
  const store = createSessionStore(kv, lifetimes);
  const knownDevices = createKnownDevices(cookies, key('known devices'));
  return {
    lifetimes,
    hooks,
    session: sessionMiddleware({ store, cookies, cookieKeys }),
    sessions: createSessions({
      kv,
      database,
      cookies,
      lifetimes,
      metrics,
      now,
      hooks,
      reader: createSessionReader({ kv, store, cookies, cookieKeys }),
      setPageUser: createPageUserSetter(database, picturesFromConfig(config)),
    }),
    devices: createDeviceRecognition({ knownDevices, returning, database, kv, outbox, log, now }),
    nextRedirect: createNextRedirect({
      publicUrl,
      searchAppUrl,
      terms,
      plansAreSold: config.STRIPE_SECRET_KEY !== undefined,
      now,
    }),
  };
}

/** The services that most modules share. No module with pages exists yet. */
export function createBaseServices(deps: AppDeps, extensions: Extensions) {
  const { config, database, kv, outbox, log } = deps;
  const web = createWebServices(deps, extensions);
  const digest = keyedDigest(web.key('recipients of messages'));
  return {
    ...web,
    ...createSessionServices(deps, web),
    digest,
    withPicture: createPictureClaim(database, picturesFromConfig(config)),
    texts: createSmsSender({ kv, outbox, digest, countries: config.SMS_COUNTRIES, limits: web.limits }),
    codes: createCodes({ kv, key: web.key('one-time codes') }),
    policy: createPasswordPolicy({ breachedApi: config.BREACHED_PASSWORDS_API, log }),
    billingNow: deps.billingNow ?? deps.now,
  };
}

export type BaseServices = ReturnType<typeof createBaseServices>;

/** The dependencies that the modules of accounts have in common. */
export function toAccountDeps(
  { config, log, database, kv, now, passwords, outbox, smsOffered }: AppDeps,
  { publicUrl, pages, cookies, policy, codes, texts, sessions, devices, hooks, queueFull }: BaseServices,
) {
  return {
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
    hooks,
    queueFull,
    brandName: config.BRAND_NAME,
    withheldFields: listWithheldFields(config.PROFILE_FIELDS),
    uniformAnswers: config.PREVENT_USER_EXISTENCE_ERRORS,
  };
}

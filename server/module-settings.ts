import { type Config, isLoopback } from '../config/load.ts';
import { cancelByMailPath, membershipPath } from '../views/account/tabs.ts';
import { type StandInAddress, type StripeForBrowsers, toOfferedMethods } from './billing/index.ts';
import type { Extensions } from './extensions.ts';
import { configureLimits, type FirmLimit, type Logger, type RateLimits, toAppLinks } from './http/index.ts';
import type { GuessLimits } from './password/index.ts';
import { keyedDigest, type Metrics } from './shared/index.ts';
import { deriveKey } from './store/index.ts';
import type { Media } from './users/index.ts';

// The configuration's variables, grouped by the modules that need them; `app.ts` passes them on.

/**
 * Everything that pages may link to.
 * @param standIns pages in place of apps that are not configured
 */
export function pageLinks(config: Config, standIns: Extensions['links']) {
  return {
    ...standIns,
    // Unless the main app has one.
    dashboard: '/dashboard',
    // Unless the user-management app has such a page.
    ...(config.STRIPE_SECRET_KEY !== undefined && { membership: membershipPath }),
    ...toAppLinks({
      mainAppUrl: config.MAIN_APP_URL,
      userManagementUrl: config.USER_MANAGEMENT_URL,
      searchAppUrl: config.SEARCH_APP_URL,
      helpUrl: config.HELP_URL,
      privacyUrl: config.PRIVACY_URL,
      paths: config.APP_PATHS,
    }),
    ...(config.MAIL_SUPPORT_ADDRESS !== undefined && { support: `mailto:${config.MAIL_SUPPORT_ADDRESS}` }),
    terms: '/tos',
    imprint: '/imprint',
    accessibility: '/accessibility',
    ...(config.STRIPE_SECRET_KEY !== undefined && { cancelMembership: cancelByMailPath }),
    signIn: '/',
    forgotPassword: '/forgot-password',
    signUp: '/signup',
    security: '/settings',
    notifications: '/settings/notifications',
  };
}

/** The path for pictures from MEDIA_DIR. */
export const mediaPath = '/media';

/** Base address of the users' pictures. */
export function mediaFromConfig({ MEDIA_URL, MEDIA_DIR, PUBLIC_URL }: Config): Media | undefined {
  if (MEDIA_URL !== undefined) return { url: MEDIA_URL, isLocal: false };
  return MEDIA_DIR === undefined ? undefined : { url: `${PUBLIC_URL}${mediaPath}/`, isLocal: true };
}

/** Where pages and client apps find users' pictures: without a configured place, those that users upload. */
export const picturesFromConfig = (config: Config): Media =>
  mediaFromConfig(config) ?? { url: `${config.PUBLIC_URL}${mediaPath}/`, isLocal: true, onlyUploads: true };

/** The address below which Foyer serves uploaded pictures; undefined: pictures are elsewhere, and users upload none. */
export const uploadsBaseUrl = (config: Config): string | undefined =>
  config.MEDIA_URL === undefined ? picturesFromConfig(config).url : undefined;

/** The sandbox's stand-in for Stripe, if Foyer uses it. */
export function standInForStripe(config: Config): StandInAddress | undefined {
  const { SANDBOX, STRIPE_SECRET_KEY: secretKey, STRIPE_API_URL: apiUrl } = config;
  return SANDBOX && secretKey !== undefined && isLoopback(apiUrl) ? { apiUrl, secretKey } : undefined;
}

/** The listener for limits that all visitors share. */
interface Operator {
  log: Pick<Logger, 'warn'>;
  metrics: Pick<Metrics, 'overallReached'>;
}

const firmLimit = ({ log, metrics }: Operator): FirmLimit => ({
  reached(limit) {
    log.warn({ act: 'overall-limit', limit }, 'overall limit reached');
    metrics.overallReached(limit);
  },
});

export const toRateLimits = (config: Config, operator: Operator): RateLimits =>
  configureLimits(config, firmLimit(operator));

export const guessLimitsFromConfig = (config: Config, limits: RateLimits): RateLimits & GuessLimits => ({
  ...limits,
  digest: keyedDigest(deriveKey(config.SECRET_KEYS[0] ?? '', 'guess counters', 32)),
});

/** How browsers reach Stripe; if no plans are sold, no page needs it. */
export const stripeForBrowsers = (config: Config): StripeForBrowsers => ({
  publishableKey: config.STRIPE_PUBLISHABLE_KEY ?? '',
  jsUrl: config.STRIPE_JS_URL,
  apiUrl: config.STRIPE_API_URL,
  methods: toOfferedMethods(config.PAYMENT_METHODS),
});

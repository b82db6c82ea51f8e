import { type Request, Router } from 'express';
import { accountRoutes, uploadPaths } from './account/index.ts';
import type { AppDeps, BaseServices } from './base-services.ts';
import { checkoutRoutes, findLatestOrder, recordContactChange } from './billing/index.ts';
import type { Extensions } from './extensions.ts';
import {
  behindRules,
  bodies,
  methodNotAllowed,
  pageAccess,
  rejectCrossSite,
  requestOfForm,
  submitLanguage,
} from './http/index.ts';
import { stripeForBrowsers, uploadsBaseUrl } from './module-settings.ts';
import { pageGuard } from './page-guard.ts';
import { passwordRoutes } from './password/index.ts';
import { informationRoutes, signInRoutes } from './sign-in/index.ts';
import { isDealPostponed, postponePartnerDeal, setLocale } from './users/index.ts';
import type { Modules } from './wiring.ts';

interface PageRouterInput {
  deps: AppDeps;
  base: BaseServices;
  modules: Modules;
}

function addSignInRoutes(router: Router, { deps, base, modules }: PageRouterInput): void {
  const { metrics, terms, legal } = deps;
  const { mfa, passkeys, signIn, mailedCodes, password, signUp, federation, oauth } = modules;
  signInRoutes(router, {
    ...modules.accountDeps,
    metrics,
    password,
    mfa,
    signIn,
    mailedCodes,
    passkeys,
    limits: base.guessLimits,
    terms,
    legal,
    nextRedirect: base.nextRedirect,
    confirmations: signUp.confirmations,
    federation,
    findPendingAuthorization: oauth.findPendingAuthorization,
    toExpiredError: oauth.toExpiredError,
    resolveShorthand: oauth.resolveShorthand,
  });
}

function addCheckoutRoutes(router: Router, { deps, base, modules }: PageRouterInput): void {
  const { config, database, terms, now } = deps;
  const { accountDeps, membership, signUp, oauth } = modules;
  checkoutRoutes(router, {
    ...accountDeps,
    searchAppUrl: base.searchAppUrl,
    terms,
    nextRedirect: base.nextRedirect,
    membership,
    stripe: stripeForBrowsers(config),
    verifyEmailUrl: signUp.verifyEmailUrl,
    findPlanKey: signUp.findPlanKey,
    findLatestOrder: (userId) => findLatestOrder(database.db, userId),
    now: base.billingNow,
    deals: {
      isPostponed: (user) => isDealPostponed(user, now()),
      postpone: async (user) => ({ ...user, dealAgainAt: await postponePartnerDeal(database.db, user.id, now()) }),
    },
    findPendingAuthorization: (req, id) => oauth.findPendingAuthorization(req, id),
  });
}

function addAccountRoutes(router: Router, { deps, base, modules }: PageRouterInput): void {
  const { config, boxes, terms } = deps;
  const { mfa, passkeys, password, contact, deletion, membership, federation, oauth } = modules;
  accountRoutes(router, {
    ...modules.accountDeps,
    mfaBox: boxes.mfa,
    contactBox: boxes.contact,
    mfa,
    passkeys,
    nextRedirect: base.nextRedirect,
    terms,
    password,
    contact,
    deletion,
    membership,
    federation,
    connectedApps: oauth.connectedApps,
    uploadsBaseUrl: uploadsBaseUrl(config),
    stripe: stripeForBrowsers(config),
    billingNow: base.billingNow,
  });
}

/** The pages and forms of all modules, behind the rules of the access table. */
export function createPageRouter(input: PageRouterInput, extensions: Extensions): Router {
  const { deps, base, modules } = input;
  const { database, legal, terms, now } = deps;
  const { publicUrl, pages, cookies, session, sessions, nextRedirect } = base;
  const { oauth, federation, signUp, password, membership } = modules;
  const createGuards = pageGuard({ publicUrl, sessions, terms, nextRedirect, now });
  const router = behindRules(
    Router({ caseSensitive: true, strict: true }),
    { ...extensions.routes?.access, ...pageAccess },
    (rule, handlers, route) => [
      ...(route.startsWith('GET ') ? [oauth.tokenCookies] : []),
      ...createGuards(rule, handlers, route),
    ],
  );
  router.use(rejectCrossSite(publicUrl), ...bodies(uploadPaths), requestOfForm(cookies), session);
  addSignInRoutes(router, input);
  federation.pageRoutes(router);
  signUp.pageRoutes(router);
  addCheckoutRoutes(router, input);
  passwordRoutes(router, password);
  addAccountRoutes(router, input);
  oauth.pageRoutes(router);
  informationRoutes(router, { pages, legal, loadPageUser: sessions.getCurrentUser });
  const saveForUser = async (req: Request, language: string) => {
    const found = await sessions.getCurrentUser(req);
    if (!found || found.user.locale === language) return;
    await database.transaction(async (trx) => {
      await setLocale(trx, found.user.id, { locale: language, nowMs: now() });
      await recordContactChange(trx, found.user.id, now());
    });
  };
  router
    .route('/language')
    .post(submitLanguage({ cookies, publicUrl, pages, saveForUser }))
    .all(methodNotAllowed('POST'));
  extensions.routes?.add(router, { pages, sessions, runBillingJobs: membership.work });
  return router;
}

import type { Router } from 'express';
import { createElement } from 'react';
import { methodNotAllowed } from '../server/http/index.ts';
import { type BillingRoutesDeps, billingRoutes } from './billing-routes.ts';
import { type MailRoutesDeps, mailRoutes } from './mail-routes.ts';
import { type ProviderRoutesDeps, providerRoutes } from './provider-routes.ts';
import { type RefusalRoutesDeps, refusalRoutes } from './refusal-routes.ts';
import { demoMember } from './seed.ts';
import { textsFor } from './texts.ts';
import { OverviewPage } from './views/overview-page.tsx';
import { PartsPage } from './views/parts-page.tsx';
import { overviewAddress, type SandboxPlaces } from './views/places.ts';
import { StandInAppPage } from './views/stand-in-app-page.tsx';
import { StandInTextPage } from './views/stand-in-text-page.tsx';

/** The targets of the header's links in the stand-ins. */
export const standInLinks = {
  search: '/sandbox/search',
  dashboard: '/sandbox/main',
  showcasePages: '/sandbox/main#showcasePages',
  shortlist: '/sandbox/main#shortlist',
  profile: '/sandbox/account#profile',
  wallet: '/sandbox/account#wallet',
  teams: '/sandbox/account#teams',
  membership: '/sandbox/account#membership',
  paymentMethods: '/sandbox/account#paymentMethods',
  help: '/sandbox/help',
  privacy: '/sandbox/privacy',
};

interface SandboxRoutesDeps extends MailRoutesDeps, BillingRoutesDeps, RefusalRoutesDeps, ProviderRoutesDeps {
  places: SandboxPlaces;
}

/**
 * Pages that replace the marketplace's own apps if none is configured, the mailbox, billing, refused requests, and all
 * parts of pages and mails.
 */
export function sandboxRoutes(router: Router, deps: SandboxRoutesDeps): void {
  const { pages, sessions, places } = deps;
  for (const app of ['search', 'main', 'account'] as const) {
    router
      .route(`/sandbox/${app}`)
      .get(async (req, res) => {
        await sessions.getCurrentUser(req);
        pages.send({ req, res }, (ctx) => createElement(StandInAppPage, { ctx, app }), {
          title: (ctx) => textsFor(ctx)(`sandbox.${app}.title`),
        });
      })
      .all(methodNotAllowed('GET', 'HEAD'));
  }
  router
    .route(overviewAddress)
    .get(async (req, res) => {
      await sessions.getCurrentUser(req);
      pages.send({ req, res }, (ctx) => createElement(OverviewPage, { ctx, places, demoMember }), {
        title: (ctx) => textsFor(ctx)('sandbox.overview.title'),
      });
    })
    .all(methodNotAllowed('GET', 'HEAD'));
  for (const about of ['help', 'privacy'] as const) {
    router
      .route(`/sandbox/${about}`)
      .get(async (req, res) => {
        await sessions.getCurrentUser(req);
        pages.send({ req, res }, (ctx) => createElement(StandInTextPage, { ctx, about }), {
          title: (ctx) => textsFor(ctx)(`sandbox.places.${about}.name`),
        });
      })
      .all(methodNotAllowed('GET', 'HEAD'));
  }
  router
    .route('/sandbox/parts')
    .get(async (req, res) => {
      await sessions.getCurrentUser(req);
      pages.send({ req, res }, (ctx) => createElement(PartsPage, { ctx }), {
        title: (ctx) => textsFor(ctx)('parts.title'),
      });
    })
    // Its forms can be tried.
    .post((_req, res) => res.redirect(303, '/sandbox/parts'))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  mailRoutes(router, deps);
  billingRoutes(router, deps);
  refusalRoutes(router, deps);
  providerRoutes(router, deps);
}

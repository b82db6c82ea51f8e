import type { Router } from 'express';
import { createElement } from 'react';
import { standardKinds } from '../config/standard-providers.ts';
import { toKindMark } from '../server/federation/index.ts';
import { methodNotAllowed } from '../server/http/index.ts';
import type { BillingRoutesDeps } from './billing-routes.ts';
import { companyDomains, oidcPath, samlPath } from './providers/index.ts';
import { standInTraits } from './providers/traits.ts';
import { textsFor } from './texts.ts';
import { providersPageAddress } from './views/places.ts';
import { ProvidersPage } from './views/providers-page.tsx';

export interface ProviderRoutesDeps extends Pick<BillingRoutesDeps, 'pages' | 'sessions'> {
  /** The origin of the stand-ins for providers; undefined: Foyer uses none of them. */
  providersOrigin: string | undefined;
}

/** The list of the stand-ins for identity providers. */
export function providerRoutes(router: Router, { pages, sessions, providersOrigin }: ProviderRoutesDeps): void {
  if (providersOrigin === undefined) return;
  const standard = standardKinds.map((kind) => ({ name: standInTraits[kind].name, ...toKindMark(kind) }));
  const companies = (['oidc', 'saml'] as const).map((kind) => ({
    kind,
    name: standInTraits[kind].name,
    domain: companyDomains[kind],
    href: providersOrigin + (kind === 'oidc' ? oidcPath : samlPath),
  }));
  router
    .route(providersPageAddress)
    .get(async (req, res) => {
      await sessions.getCurrentUser(req);
      pages.send({ req, res }, (ctx) => createElement(ProvidersPage, { ctx, standard, companies }), {
        title: (ctx) => textsFor(ctx)('sandbox.places.providers.name'),
      });
    })
    .all(methodNotAllowed('GET', 'HEAD'));
}

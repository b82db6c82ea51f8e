import type { Request } from 'express';
import { createElement } from 'react';
import { NotInPlanPage } from '../../views/oidc/plan-required-page.tsx';
import type { PageContext } from '../../views/page-context.ts';
import type { Plan } from '../billing/index.ts';
import { planLine, planPrice } from '../billing/index.ts';
import {
  type Continuation,
  continuationFrom,
  HttpError,
  readFormField,
  readQueryParam,
  renderRedirectPage,
} from '../http/index.ts';
import { type ClientId, toClientId } from '../shared/index.ts';
import { redirectToSignIn } from '../sign-in/index.ts';
import { type AccessRequirement, grantsAccess } from './access-rule.ts';
import type { AuthorizationRequest } from './authorization-requests.ts';
import { requireOwnedRequest } from './bind-session-handlers.ts';
import { isVisibleToUsers } from './client-metadata.ts';
import { findClient } from './client-store.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { initiateLoginUrl } from './initiate-login.ts';

const notInPlanPath = '/not-in-plan';

/** The page for a pending request, with all parameters that lead back to it. */
export const planRequiredUrl = (search: string): string => `${notInPlanPath}${search}`;
/** The same without a pending request. */
export const planRequiredUrlForClient = (clientId: ClientId): string =>
  `${notInPlanPath}?${new URLSearchParams({ client_id: clientId })}`;

/** The client app that the user's plan does not include, and the next steps. */
interface RestrictedClient {
  demand: AccessRequirement;
  clientName: string;
  clientLogo: string | undefined;
  request?: AuthorizationRequest;
  /** Query for the pages of plans, so that a purchase leads to the client app. */
  search: string;
  /** The address for a user who has access by now. */
  opened: string;
}

/** @throws {HttpError} if no request is pending here, or if no client app with that id is visible to users */
async function loadRestrictedClient(
  deps: OauthDeps,
  req: Request,
  continuation: Continuation,
): Promise<RestrictedClient> {
  if (continuation.authorization !== undefined) {
    const request = await requireOwnedRequest(deps, req, continuation.authorization);
    const { client, clientName } = request;
    const { search } = continuation;
    return { demand: client, clientName, clientLogo: client.logoUri, request, search, opened: `/verify-user${search}` };
  }
  const client = await findClient(deps.database.db, toClientId(readQueryParam(req, 'client_id') ?? ''));
  if (!client || !isVisibleToUsers(client)) throw new HttpError('notFound', { detail: 'no such client app' });
  return {
    demand: client,
    clientName: client.client_name,
    clientLogo: client.logo_uri,
    // A user who returns here with the right plan continues into the app.
    search: `?${new URLSearchParams({ redirect: planRequiredUrlForClient(client.client_id) })}`,
    opened: client.initiate_login_uri ? initiateLoginUrl(client.initiate_login_uri, deps.publicUrl) : '/dashboard',
  };
}

/** The plans that include it and can be chosen here. */
function plansThatOpen({ catalogue, plansAreSold }: OauthDeps, demand: AccessRequirement): Plan[] {
  if (!plansAreSold) return [];
  return catalogue.plans.filter(
    ({ id, kind, entitlements }) => kind !== 'partner' && grantsAccess(demand, { plan: id, entitlements }),
  );
}

const planPriceText = (ctx: PageContext, plan: Plan, currency: string): string => {
  const price = planPrice(ctx, plan, currency);
  return price ? `${price.amount} ${price.per}` : '';
};

const toOrigins = (url: string | undefined): string[] => {
  const origin = url === undefined ? undefined : URL.parse(url)?.origin;
  return origin === undefined || origin === 'null' ? [] : [origin];
};

/**
 * GET /not-in-plan: the reason that this user has no access to a client app, and the plans that include it; the request
 * stays pending.
 */
export function showPlanRequired(deps: OauthDeps): Handler {
  return async (req, res) => {
    const continuation = continuationFrom(req, deps.publicUrl);
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return redirectToSignIn({ req, res }, deps.publicUrl);
    const { user } = member;
    const shut = await loadRestrictedClient(deps, req, continuation);
    if (deps.canAccessClient(shut.demand, user)) return res.redirect(303, shut.opened);
    const { clientName, clientLogo, request, search } = shut;
    const { catalogue } = deps;
    const own = catalogue.byId(user.planId);
    const elsewhere = new URLSearchParams(search);
    elsewhere.set('forceAuth', 'true');
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(NotInPlanPage, {
          ctx,
          clientName,
          clientLogo,
          memberEmail: user.email,
          currentPlan: own && planLine(ctx.t, own),
          plans: plansThatOpen(deps, shut.demand).map((plan) => ({
            name: planLine(ctx.t, plan),
            price: planPriceText(ctx, plan, catalogue.currency),
            href: `/plan-purchase/${plan.id}${search}`,
          })),
          compareHref: `/plan-purchase${search}`,
          otherAccountHref: `/?${elsewhere}`,
          ...(request && {
            back: { action: notInPlanPath, fields: { authorization_code: request.interaction.uid } },
          }),
          dashboardHref: '/dashboard',
        }),
      {
        title: (ctx) => ctx.t('dashboard.limited.title', { clientName }),
        policy: { images: toOrigins(clientLogo) },
      },
    );
  };
}

/** POST /not-in-plan: the user cancels; the client app gets the error (OpenID Connect Core 1.0, section 3.1.2.6). */
export function submitPlanRequired(deps: OauthDeps): Handler {
  return async (req, res) => {
    const id = readFormField(req, 'authorization_code');
    const search = `?${new URLSearchParams({ authorization_code: id })}`;
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return redirectToSignIn({ req, res }, deps.publicUrl, planRequiredUrl(search));
    const request = await requireOwnedRequest(deps, req, id);
    const href = await deps.requests.answer(request, member.user.id, {
      error: 'access_denied',
      error_description: 'the End-User does not have the plan for it',
    });
    renderRedirectPage(deps.pages, req, res, href, request.clientName);
  };
}

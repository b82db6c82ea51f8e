import { NotInPlanPage, type NotInPlanPageProps } from '../../views/oidc/plan-required-page.tsx';
import { type Plan, planLine, planPrice, priceText } from '../billing/index.ts';
import { HttpError, type RequestContext } from '../http/index.ts';
import { type ClientId, toClientId } from '../shared/index.ts';
import { redirectToSignIn } from '../sign-in/index.ts';
import { type AccessRequirement, grantsAccess } from './access-rule.ts';
import type { AuthorizationRequest } from './authorization-requests.ts';
import { requireOwnedRequest } from './client-authorizations.ts';
import { isVisibleToUsers, toLogoOrigins } from './client-metadata.ts';
import { findClient } from './client-store.ts';
import type { OidcDeps } from './deps.ts';
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
  clientId: ClientId;
  clientName: string;
  clientLogo: string | undefined;
  request?: AuthorizationRequest;
  /** Query for the pages of plans, so that a purchase leads to the client app. */
  search: string;
  /** The address for a user who has access by now. */
  opened: string;
}

/** @throws {HttpError} if no request is pending here, or if no client app with that id is visible to users */
async function loadRestrictedClient(r: RequestContext, deps: OidcDeps): Promise<RestrictedClient> {
  const { authorization, search } = r.continuation;
  if (authorization !== undefined) {
    const request = await requireOwnedRequest(r, deps, authorization);
    const { client, clientName } = request;
    const clientId = toClientId(client.clientId);
    return {
      demand: client,
      clientId,
      clientName,
      clientLogo: client.logoUri,
      request,
      search,
      opened: `/verify-user${search}`,
    };
  }
  const client = await findClient(deps.database.db, toClientId(r.query('client_id') ?? ''));
  if (!client || !isVisibleToUsers(client)) throw new HttpError('notFound', { detail: 'no such client app' });
  return {
    demand: client,
    clientId: client.client_id,
    clientName: client.client_name,
    clientLogo: client.logo_uri,
    // A user who returns here with the right plan continues into the app.
    search: `?${new URLSearchParams({ redirect: planRequiredUrlForClient(client.client_id) })}`,
    opened: client.initiate_login_uri ? initiateLoginUrl(client.initiate_login_uri, deps.publicUrl) : '/dashboard',
  };
}

/** The plans that include it and can be chosen here. */
function plansThatOpen({ catalogue, plansAreSold }: OidcDeps, demand: AccessRequirement): Plan[] {
  if (!plansAreSold) return [];
  return catalogue.plans.filter(
    ({ id, kind, entitlements }) => kind !== 'partner' && grantsAccess(demand, { plan: id, entitlements }),
  );
}

function planViews(
  r: RequestContext,
  deps: OidcDeps,
  { demand, search }: RestrictedClient,
): NotInPlanPageProps['plans'] {
  const plans = plansThatOpen(deps, demand);
  const recommended = plans.find(({ isMostChosen }) => isMostChosen) ?? plans[0];
  return plans.map((plan) => {
    const price = planPrice(r, plan, deps.catalogue);
    return {
      name: planLine(r.t, plan),
      price: price ? priceText(price) : '',
      href: `/plan-purchase/${plan.id}${search}`,
      isRecommended: plan === recommended,
    };
  });
}

/**
 * GET /not-in-plan: the reason that this user has no access to a client app, and the plans that include it; the request
 * stays pending.
 */
export async function showPlanRequired(r: RequestContext, deps: OidcDeps): Promise<void> {
  const found = await deps.sessions.getCurrentUser(r.req);
  if (!found) return redirectToSignIn(r, deps.publicUrl);
  const { user } = found;
  const restricted = await loadRestrictedClient(r, deps);
  if (deps.canAccessClient(restricted.demand, user)) return r.redirect(restricted.opened);
  const { clientId, clientName, clientLogo, request, search } = restricted;
  const currentPlan = deps.catalogue.byId(user.planId);
  const otherAccount = new URLSearchParams(search);
  otherAccount.set('forceAuth', 'true');
  r.render(
    NotInPlanPage,
    {
      clientId,
      clientName,
      clientLogo,
      memberEmail: user.email,
      currentPlan: currentPlan && planLine(r.t, currentPlan),
      plans: planViews(r, deps, restricted),
      compareHref: `/plan-purchase${search}`,
      otherAccountHref: `/?${otherAccount}`,
      ...(request && { back: { action: notInPlanPath, fields: { authorization_code: request.interaction.uid } } }),
      dashboardHref: '/dashboard',
    },
    {
      title: (ctx) => ctx.t('dashboard.limited.title', { clientName }),
      policy: { images: toLogoOrigins(clientLogo) },
    },
  );
}

/** POST /not-in-plan: the user cancels; the client app gets the error (OpenID Connect Core 1.0, section 3.1.2.6). */
export async function submitPlanRequired(r: RequestContext, deps: OidcDeps): Promise<void> {
  const id = r.field('authorization_code');
  const search = `?${new URLSearchParams({ authorization_code: id })}`;
  const found = await deps.sessions.getCurrentUser(r.req);
  if (!found) return redirectToSignIn(r, deps.publicUrl, planRequiredUrl(search));
  const request = await requireOwnedRequest(r, deps, id);
  const href = await deps.requests.answer(request, found.user.id, {
    error: 'access_denied',
    error_description: 'the End-User does not have the plan for it',
  });
  r.redirectAway(href, request.clientName);
}

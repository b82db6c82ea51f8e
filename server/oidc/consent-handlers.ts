import type { Client } from 'oidc-provider';
import { ConsentPage } from '../../views/oidc/consent-page.tsx';
import { scopeTexts } from '../../views/oidc/scope-texts.ts';
import { HttpError, type RequestContext } from '../http/index.ts';
import { redirectToSignIn } from '../sign-in/index.ts';
import type { AuthorizationRequest } from './authorization-requests.ts';
import { requireOwnedRequest } from './client-authorizations.ts';
import { toLogoOrigins } from './client-metadata.ts';
import type { OidcDeps } from './deps.ts';
import { consentReason, grantableAudiences, grantableScopes } from './load-existing-grant.ts';
import { resourceServerFor } from './resource-tokens.ts';
import { restartUrl } from './restart-authorization.ts';

const text = (value: unknown) => (typeof value === 'string' ? value : '');

const consentUrl = (id: string) => `/consent?${new URLSearchParams({ authorization_code: id })}`;

/** The requested scopes of resource servers, each with its server. */
async function resourceScopes(
  { database }: OidcDeps,
  client: Client,
  { resource, requested }: { resource: unknown; requested: readonly string[] },
): Promise<string[]> {
  const identifiers = [resource].flat().filter((one) => typeof one === 'string');
  const servers = await Promise.all(identifiers.map((one) => resourceServerFor(database, client, one)));
  return servers.flatMap((server) =>
    server
      ? grantableAudiences(requested, new Set(server.scopes)).map((scope) => `${scope} (${server.identifier})`)
      : [],
  );
}

/** A private-use scheme has no host: the page shows the scheme itself. */
function toClientHost({ interaction, client }: AuthorizationRequest): string {
  const redirectUri = URL.parse(text(interaction.params.redirect_uri));
  return redirectUri?.host || redirectUri?.protocol.slice(0, -1) || client.clientId;
}

/** GET /consent: asks the user about a client app that is not the marketplace's own, or cannot prove its identity. */
export async function showConsent(r: RequestContext, deps: OidcDeps): Promise<void> {
  const id = r.query('authorization_code') ?? '';
  const found = await deps.sessions.getCurrentUser(r.req);
  if (!found) return redirectToSignIn(r, deps.publicUrl);
  const request = await requireOwnedRequest(r, deps, id);
  const { interaction, client, clientName } = request;
  const requested = text(interaction.params.scope).split(' ');
  const atResources = await resourceScopes(deps, client, { resource: interaction.params.resource, requested });
  r.render(
    ConsentPage,
    {
      action: '/consent',
      fields: { authorization_code: id },
      clientId: client.clientId,
      clientName,
      ...(client.logoUri !== undefined && { clientLogo: client.logoUri }),
      clientHost: toClientHost(request),
      clientPages: { website: client.clientUri, privacy: client.policyUri, terms: client.tosUri },
      onDevice: interaction.deviceCode !== undefined,
      // The client app itself may have requested the page (prompt=consent).
      reason: consentReason(client) ?? 'prompt',
      scopes: scopeTexts(r.t, [...grantableScopes(requested, client.scope), ...atResources]),
      memberEmail: found.user.email,
      otherAccountHref: `/?${new URLSearchParams({ authorization_code: id, forceAuth: 'true' })}`,
    },
    { title: (ctx) => ctx.t('oauth.consent.title', { clientName }), policy: { images: toLogoOrigins(client.logoUri) } },
  );
}

/** POST /consent: the answer is stored with the request. Only the provider creates the grant, when it resumes. */
export async function submitConsent(r: RequestContext, deps: OidcDeps): Promise<void> {
  const id = r.field('authorization_code');
  const found = await deps.sessions.getCurrentUser(r.req);
  if (!found) return redirectToSignIn(r, deps.publicUrl, consentUrl(id));
  const request = await requireOwnedRequest(r, deps, id);
  if (request.interaction.prompt.name !== 'consent')
    throw new HttpError('badRequest', { detail: 'no consent requested' });
  // Another user may have signed in on this browser since the page was shown.
  const { session, result } = request.interaction;
  if ((session?.accountId ?? result?.member) !== found.user.id) {
    await deps.requests.abandon(r.req, id);
    throw new HttpError('requestExpired', {
      detail: 'consent was requested from another user',
      redirectTo: await restartUrl(deps, r.req, { id }),
    });
  }
  const decision = r.field('decision');
  if (decision !== 'allow' && decision !== 'deny') throw new HttpError('badRequest', { detail: 'unknown form action' });
  const answer =
    decision === 'allow'
      ? { consent: {} }
      : { error: 'access_denied', error_description: 'the End-User did not allow it' };
  r.redirectAway(await deps.requests.answer(request, found.user.id, answer), request.clientName);
}

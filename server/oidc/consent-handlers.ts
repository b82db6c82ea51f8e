import type { Client } from 'oidc-provider';
import { createElement } from 'react';
import { ConsentPage } from '../../views/oidc/consent-page.tsx';
import { scopeTexts } from '../../views/oidc/scope-texts.ts';
import { HttpError, readFormField, readQueryParam, renderRedirectPage } from '../http/index.ts';
import { redirectToSignIn } from '../sign-in/index.ts';
import { requireOwnedRequest } from './bind-session-handlers.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { consentReason, grantableAudiences, grantableScopes } from './load-existing-grant.ts';
import { resourceServerFor } from './resource-tokens.ts';
import { restartUrl } from './restart-authorization.ts';

const text = (value: unknown) => (typeof value === 'string' ? value : '');

function toOrigins(url: string | undefined): string[] {
  const origin = url === undefined ? undefined : URL.parse(url)?.origin;
  return origin === undefined || origin === 'null' ? [] : [origin];
}

/** The requested scopes of resource servers, each with its server. */
async function resourceScopes(
  { database }: OauthDeps,
  client: Client,
  resource: unknown,
  requested: readonly string[],
): Promise<string[]> {
  const identifiers = [resource].flat().filter((one) => typeof one === 'string');
  const servers = await Promise.all(identifiers.map((one) => resourceServerFor(database, client, one)));
  return servers.flatMap((server) =>
    server
      ? grantableAudiences(requested, new Set(server.scopes)).map((scope) => `${scope} (${server.identifier})`)
      : [],
  );
}

/** GET /consent: asks the user about a client app that is not the marketplace's own, or cannot prove its identity. */
export function showConsent(deps: OauthDeps): Handler {
  return async (req, res) => {
    const id = readQueryParam(req, 'authorization_code') ?? '';
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return redirectToSignIn({ req, res }, deps.publicUrl);
    const { interaction, client, clientName } = await requireOwnedRequest(deps, req, id);
    const redirectUri = URL.parse(text(interaction.params.redirect_uri));
    const requested = text(interaction.params.scope).split(' ');
    const atResources = await resourceScopes(deps, client, interaction.params.resource, requested);
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(ConsentPage, {
          ctx,
          action: '/consent',
          fields: { authorization_code: id },
          clientName,
          ...(client.logoUri !== undefined && { clientLogo: client.logoUri }),
          // A private-use scheme has no host: the page shows the scheme itself.
          clientHost: redirectUri?.host || redirectUri?.protocol.slice(0, -1) || client.clientId,
          onDevice: interaction.deviceCode !== undefined,
          // The client app itself may have requested the page (prompt=consent).
          reason: consentReason(client) ?? 'prompt',
          scopes: scopeTexts(ctx.t, [...grantableScopes(requested, client.scope), ...atResources]),
          memberEmail: member.user.email,
        }),
      { title: (ctx) => ctx.t('oauth.consent.title', { clientName }), policy: { images: toOrigins(client.logoUri) } },
    );
  };
}

/** POST /consent: the answer is stored with the request. Only the provider creates the grant, when it resumes. */
export function submitConsent(deps: OauthDeps): Handler {
  return async (req, res) => {
    const id = readFormField(req, 'authorization_code');
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) {
      return redirectToSignIn(
        { req, res },
        deps.publicUrl,
        `/consent?${new URLSearchParams({ authorization_code: id })}`,
      );
    }
    const request = await requireOwnedRequest(deps, req, id);
    if (request.interaction.prompt.name !== 'consent')
      throw new HttpError('badRequest', { detail: 'no consent requested' });
    // Another user may have signed in on this browser since the page was shown.
    const { session, result } = request.interaction;
    if ((session?.accountId ?? result?.member) !== member.user.id) {
      await deps.requests.abandon(req, id);
      throw new HttpError('requestExpired', {
        detail: 'consent was requested from another user',
        redirectTo: await restartUrl(deps, req, { id }),
      });
    }
    const decision = readFormField(req, 'decision');
    if (decision !== 'allow' && decision !== 'deny')
      throw new HttpError('badRequest', { detail: 'unknown form action' });
    const href = await deps.requests.answer(
      request,
      member.user.id,
      decision === 'allow'
        ? { consent: {} }
        : { error: 'access_denied', error_description: 'the End-User did not allow it' },
    );
    renderRedirectPage(deps.pages, req, res, href, request.clientName);
  };
}

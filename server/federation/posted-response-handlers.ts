import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { UnsolicitedResponsePage } from '../../views/federation/unsolicited-response-page.tsx';
import { belongToRequest, HttpError, readFormField, readQueryParam } from '../http/index.ts';
import { toFlowId } from '../shared/index.ts';
import { lookupRefusals } from './attempts.ts';
import { logRefusal, requireProvider } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import { handleIdentity } from './handle-identity.ts';
import { FederationError, type UpstreamIdentity } from './identity.ts';
import type { PostedResponse } from './posted-responses.ts';
import { finishPath, type Provider } from './providers.ts';
import { loginPageUrl } from './sign-in-notices.ts';

const belongsTo = (ticket: PostedResponse | undefined, provider: Provider): ticket is PostedResponse =>
  ticket?.provider === provider.id;

/**
 * GET /federation/<provider>/finish?ticket=: the browser returns from the SAML POST with its cookies. The response
 * counts only in the browser of its attempt, once.
 */
export function showPostedResponse(deps: FederationDeps): RequestHandler {
  const { attempts, tickets } = deps;
  return async (req, res) => {
    const provider = requireProvider(deps, req);
    const id = toFlowId(readQueryParam(req, 'ticket') ?? '');
    const ticket = await tickets.find(id);
    if (!belongsTo(ticket, provider)) {
      logRefusal(deps, provider, new FederationError('over', 'ticket expired or unknown'));
      return res.redirect(303, loginPageUrl(undefined, provider, 'over'));
    }
    const { attempt: attemptId, outcome } = ticket;
    if (outcome.kind === 'refused') {
      // The error was reported at the POST. Only the browser of the attempt learns its continuation.
      const found = attemptId === undefined ? undefined : await attempts.find(req, attemptId, provider.id);
      const attempt = found && found.state !== 'unknown' ? found.attempt : undefined;
      if (attempt) belongToRequest(deps.cookies, { req, res }, `/${attempt.continuation}`);
      return res.redirect(303, loginPageUrl(attempt, provider, outcome.why));
    }
    if (attemptId === undefined) return renderUnsolicitedPage(deps, req, res, provider, id, outcome.identity);
    const found = await attempts.take(req, attemptId, provider.id);
    const attempt = found.state === 'unknown' ? undefined : found.attempt;
    if (attempt) belongToRequest(deps.cookies, { req, res }, `/${attempt.continuation}`);
    try {
      if (found.state !== 'open') throw new FederationError(lookupRefusals[found.state], 'attempt not open');
      if (!belongsTo(await tickets.takeOnce(id), provider)) throw new FederationError('over', 'ticket already used');
      await handleIdentity(deps, req, res, { provider, identity: outcome.identity, attempt: found.attempt });
    } catch (error) {
      const { kind } = logRefusal(deps, provider, error);
      res.redirect(303, loginPageUrl(attempt, provider, kind));
    }
  };
}

/**
 * An attacker who sends a visitor here with the attacker's own response must not sign them in to the attacker's
 * account.
 */
function renderUnsolicitedPage(
  { pages }: FederationDeps,
  req: Request,
  res: Response,
  provider: Provider,
  ticket: string,
  identity: UpstreamIdentity,
): void {
  const there = { name: `${identity.givenName} ${identity.familyName}`.trim(), email: identity.email ?? '' };
  const view = { action: finishPath(provider.id), fields: { ticket }, provider: provider.name, there, backHref: '/' };
  pages.send(req, res, 200, (ctx) => createElement(UnsolicitedResponsePage, { ctx, ...view }), {
    title: (ctx) => ctx.t('federation.unsolicited.title', { provider: provider.name }),
    address: `${finishPath(provider.id)}?${new URLSearchParams({ ticket })}`,
  });
}

/** POST: the visitor confirms an unsolicited (IdP-initiated) response. */
export function finishPostedResponse(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const provider = requireProvider(deps, req);
    const id = toFlowId(readFormField(req, 'ticket'));
    const found = await deps.tickets.find(id);
    if (found?.attempt !== undefined) throw new HttpError('badRequest', { detail: 'ticket belongs to an attempt' });
    const attempt = { intent: { kind: 'sign-in' }, continuation: '', remember: false } as const;
    try {
      const ticket = await deps.tickets.takeOnce(id);
      if (!belongsTo(ticket, provider) || ticket.outcome.kind !== 'identity')
        throw new FederationError('over', 'ticket expired or unknown');
      await handleIdentity(deps, req, res, { provider, identity: ticket.outcome.identity, attempt });
    } catch (error) {
      const { kind } = logRefusal(deps, provider, error);
      res.redirect(303, loginPageUrl(attempt, provider, kind));
    }
  };
}

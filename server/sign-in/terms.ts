import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { TermsPage } from '../../views/sign-in/terms-page.tsx';
import { mustAcceptTerms, setAcceptedTerms } from '../account/index.ts';
import { errandOf, field, HttpError } from '../http/index.ts';
import type { SignInDeps } from './deps.ts';
import { askToSignIn } from './guard.ts';

function sendTermsPage(
  { pages, terms }: SignInDeps,
  req: Request,
  res: Response,
  props: {
    mode: 'read' | 'accept';
    search: string;
    notice?: { kind: 'error' | 'success'; text: string };
    status?: number;
  },
): void {
  pages.send(
    req,
    res,
    props.status ?? 200,
    (ctx) =>
      createElement(TermsPage, {
        ctx,
        mode: props.mode,
        action: `/tos${props.search}`,
        version: terms,
        ...(props.notice && { notice: props.notice }),
      }),
    { title: (ctx) => ctx.t('terms.title'), address: `/tos${props.search}` },
  );
}

/** GET /tos: public to read; a member whose acceptance is missing or old is asked for it. */
export function showTerms(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.member(req);
    const mode = member && mustAcceptTerms(member.user, deps.terms) ? 'accept' : 'read';
    sendTermsPage(deps, req, res, { mode, search: errandOf(req, deps.publicUrl).search });
  };
}

/** POST /tos: accepting goes on to where the member was going, declining stays. */
export function decideTerms(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const errand = errandOf(req, deps.publicUrl);
    const member = await deps.sessions.member(req);
    if (!member) return askToSignIn(req, res, deps.publicUrl);
    const t = deps.pages.context(req, res).t;
    const decision = field(req, 'decision');
    if (decision === 'decline') {
      const mode = mustAcceptTerms(member.user, deps.terms) ? 'accept' : 'read';
      return sendTermsPage(deps, req, res, {
        mode,
        search: errand.search,
        notice: { kind: 'error', text: t('terms.TERMS_OF_SERVICE_MESSAGE_DECLINE') },
      });
    }
    if (decision !== 'accept') throw new HttpError('badRequest', { detail: 'decision is neither accept nor decline' });
    // The terms may have been raised since the page was shown: what was not seen cannot be accepted.
    if (field(req, 'version') !== String(deps.terms.number)) {
      return sendTermsPage(deps, req, res, { mode: 'accept', search: errand.search, status: 409 });
    }
    await setAcceptedTerms(deps.database.db, member.user.id, deps.terms.number, deps.now());
    const accepted = { ...member.user, acceptedTosVersion: deps.terms.number };
    res.redirect(303, deps.wayOn(accepted, errand).address);
  };
}

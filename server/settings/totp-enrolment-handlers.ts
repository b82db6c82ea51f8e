import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import {
  TotpActivatePage,
  type TotpActivatePageProps,
  TotpRequestPage,
  TotpScanPage,
} from '../../views/settings/totp-pages.tsx';
import { methodNotAllowed, readFormField } from '../http/index.ts';
import { setupMinutes } from '../mfa/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { toFlowId, toPublicOutcome } from '../shared/index.ts';
import type { AccountDeps } from './deps.ts';
import { endOthersIfTicked, endOthersTicked } from './end-others.ts';
import { activatePath, scanPath, totpPath } from './paths.ts';
import { qrCode } from './qr-code.ts';
import { recordPresentedFactor } from './record-presented-factor.ts';
import { afterEnablingFactor } from './recovery-codes-handlers.ts';
import { type MemberHandler, requireRecentAuth, type SignedInUser } from './require-recent-auth.ts';

/**
 * The setup's id, only in this browser. Not the session itself, because re-authentication in between creates a new one.
 */
const cookieName = 'foyer_totp_setup';

const findSetup = ({ cookies, mfa }: AccountDeps, req: Request, { user }: SignedInUser) => {
  const flow = toFlowId(cookies.read(req, cookieName) ?? '');
  return mfa.enrolling.findTotpSetup(flow, user);
};

async function sendRequestPage(
  deps: AccountDeps,
  req: Request,
  res: Response,
  { user }: SignedInUser,
  refused?: string,
): Promise<void> {
  const view = deps.pages.shownAt(req, res, totpPath, { problem: refused });
  if (!view) return;
  const { problem } = view;
  const { totp } = await deps.mfa.enrolling.findFactors(user);
  deps.pages.send(
    req,
    res,
    problem === undefined ? 200 : 400,
    (ctx) => createElement(TotpRequestPage, { ctx, action: totpPath, replaces: totp, problem }),
    { title: (ctx) => ctx.t('mfaSettings.totp.title'), address: totpPath },
  );
}

/** GET /settings/mfa/totp: first of three steps. */
function showRequest(deps: AccountDeps): MemberHandler {
  return (req, res, member) => sendRequestPage(deps, req, res, member);
}

/** POST /settings/mfa/totp: creates a secret, which has no effect until it is activated. */
function requestSecret(deps: AccountDeps): MemberHandler {
  return async (_req, res, { user }) => {
    const { setupId } = await deps.mfa.enrolling.beginTotp(user);
    deps.cookies.set(res, cookieName, setupId, { maxAgeMs: setupMinutes * 60_000 });
    res.redirect(303, scanPath);
  };
}

/** GET /settings/mfa/totp/scan: second step. */
function showScan(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const setup = await findSetup(deps, req, member);
    if (!setup) return res.redirect(303, totpPath);
    const qr = qrCode(setup.uri);
    deps.pages.send(
      req,
      res,
      200,
      (ctx) => createElement(TotpScanPage, { ctx, ...setup, qr, nextHref: activatePath }),
      { title: (ctx) => ctx.t('mfaSettings.totp.scan'), address: scanPath },
    );
  };
}

type TotpActivatePageState = Pick<TotpActivatePageProps, 'error' | 'hint' | 'endOthers'> & { status?: number };

function sendActivatePage({ pages }: AccountDeps, req: Request, res: Response, state: TotpActivatePageState = {}) {
  const submitted = pages.shownAt(req, res, activatePath, state);
  if (!submitted) return;
  const { status = 200, ...view } = submitted;
  pages.send(
    req,
    res,
    status,
    (ctx) => createElement(TotpActivatePage, { ctx, action: activatePath, scanHref: scanPath, ...view }),
    { title: (ctx) => ctx.t('mfaSettings.totp.enter'), address: activatePath },
  );
}

/** GET /settings/mfa/totp/activate: third step. */
function showActivate(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    if (!(await findSetup(deps, req, member))) return res.redirect(303, totpPath);
    sendActivatePage(deps, req, res);
  };
}

/** POST /settings/mfa/totp/activate: a code of the app; from now on the sign-in asks for one. */
function activate(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const { cookies, mfa, log } = deps;
    const { user } = member;
    const flow = toFlowId(cookies.read(req, cookieName) ?? '');
    const { totp } = await mfa.enrolling.findFactors(user);
    const activated = await mfa.enrolling.activateTotp(flow, user, readFormField(req, 'code'), getRequestOrigin(req));
    log.info({ act: 'totp-activate', outcome: toPublicOutcome(activated.kind) }, 'authenticator app');
    const { t } = req;
    // Without a set-up the page for codes returns to the first step, whatever was typed.
    if (activated.kind !== 'activated' && !(await findSetup(deps, req, member))) {
      return sendRequestPage(deps, req, res, member, t('mfaSettings.totp.expired'));
    }
    switch (activated.kind) {
      case 'incomplete':
        return sendActivatePage(deps, req, res, {
          status: 400,
          endOthers: endOthersTicked(req),
          error: t('mfaSettings.totp.incomplete'),
        });
      case 'incorrect':
        return sendActivatePage(deps, req, res, {
          status: 400,
          endOthers: endOthersTicked(req),
          error: t('mfaSettings.totp.wrong'),
          hint: t('mfaSettings.totp.wrongHint'),
        });
      case 'not-found':
        return sendRequestPage(deps, req, res, member, t('mfaSettings.totp.expired'));
      case 'activated': {
        cookies.clear(res, cookieName);
        const done = totp ? 'totp-replaced' : 'mfa-totp';
        const session = await recordPresentedFactor(deps, req, res, member, 'otp');
        await endOthersIfTicked(deps, req, { user, session });
        const turnedOn = { done, codes: activated.recoveryCodes } as const;
        return res.redirect(303, await afterEnablingFactor(deps, req, res, { user, session }, turnedOn));
      }
    }
  };
}

/** The set-up of an authenticator app: three steps, each with an address of its own. */
export function totpRoutes(router: Router, deps: AccountDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(totpPath)
    .get(requireRecentAuth(deps, showRequest(deps)))
    .post(requireRecentAuth(deps, requestSecret(deps)))
    .all(only);
  router
    .route(scanPath)
    .get(requireRecentAuth(deps, showScan(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
  router
    .route(activatePath)
    .get(requireRecentAuth(deps, showActivate(deps)))
    .post(requireRecentAuth(deps, activate(deps)))
    .all(only);
}

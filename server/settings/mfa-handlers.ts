import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import type { TextKey } from '../../locales/index.ts';
import type { PageContext } from '../../views/page-context.ts';
import { MfaCard, type MfaCardProps } from '../../views/settings/mfa-card.tsx';
import type { AuthenticatorsView, FactorChoice, MfaFormProps } from '../../views/settings/mfa-form.tsx';
import { MfaPage } from '../../views/settings/mfa-page.tsx';
import { HttpError, methodNotAllowed, readFormField } from '../http/index.ts';
import type { MfaPreferenceRefusal } from '../mfa/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import { mustSetUpSecondFactor } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';
import { endOthersField, endOthersIfTicked, endOthersTicked } from './end-others.ts';
import { rememberEnrolmentReturn } from './enrolment-return.ts';
import { formatPhone } from './format-phone.ts';
import type { HomeCardSource } from './home-cards.ts';
import { accountHomeUrl } from './notices.ts';
import { codesPath, mfaPath, phonePath, securityHomePath, smsPath, totpPath } from './paths.ts';
import { afterEnablingFactor } from './recovery-codes-handlers.ts';
import { type MemberHandler, requireRecentAuth } from './require-recent-auth.ts';

type CardDeps = Pick<AccountDeps, 'mfa' | 'smsOffered'>;

async function toAuthenticatorsView({ mfa, smsOffered }: CardDeps, user: User): Promise<AuthenticatorsView> {
  const { preference, totp, sms, recoveryCodesLeft } = await mfa.enrolling.findFactors(user);
  const number = sms && user.phone !== null ? { number: formatPhone(user.phone) } : {};
  return { preference, required: user.secondFactorRequired, totp, ...number, smsOffered, recoveryCodesLeft };
}

/** The content of the MFA card for a user. */
export async function mfaCardProps(deps: CardDeps, user: User): Promise<Omit<MfaCardProps, 'ctx'>> {
  const factors = await toAuthenticatorsView(deps, user);
  return { factors, action: mfaPath, phoneHref: phonePath, totpHref: totpPath, codesHref: codesPath };
}

/** The card on the settings' home. */
export const mfaCard: HomeCardSource = async (deps, _req, { user }) => {
  const props = await mfaCardProps(deps, user);
  return (ctx: PageContext) => createElement(MfaCard, { ctx, ...props, key: 'mfa' });
};

type MfaPageState = Pick<MfaFormProps, 'typed'> & { error?: string; status?: number };

async function renderMfaPage(deps: AccountDeps, req: Request, res: Response, user: User, state: MfaPageState = {}) {
  const pageState = deps.pages.shownAt(req, res, mfaPath, state);
  if (!pageState) return;
  const { status = 200, typed, error } = pageState;
  const factors = await toAuthenticatorsView(deps, user);
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(MfaPage, {
        ctx,
        factors,
        due: mustSetUpSecondFactor(user),
        action: mfaPath,
        phoneHref: phonePath,
        typed,
        error,
      }),
    { title: (ctx) => ctx.t('mfaSettings.card.title'), address: mfaPath },
  );
}

/** GET /settings/mfa. */
function showMfa(deps: AccountDeps): MemberHandler {
  return async (req, res, { user }) => {
    rememberEnrolmentReturn(deps, req, res, user);
    const stored = await deps.formDrafts.takeDraft(req, res, user.id);
    await renderMfaPage(deps, req, res, user, {
      ...(stored && {
        typed: {
          enabled: stored.enabled === '1',
          method: stored.method ?? '',
          endOthers: stored[endOthersField] === '1',
        },
      }),
    });
  };
}

const isChoice = (method: string): method is FactorChoice => ['sms', 'totp', 'none'].includes(method);

/** The set-up page of a choice whose factor must be set up first; undefined: it can be saved. */
function enrolmentUrlBefore({ totp, number }: AuthenticatorsView, choice: FactorChoice): string | undefined {
  if (choice === 'totp' && !totp) return totpPath;
  // A number must prove again that it receives codes.
  if (choice === 'sms') return number === undefined ? phonePath : smsPath;
  return undefined;
}

const refusalTexts = {
  'no-phone': 'mfaSettings.errors.noPhone',
  'no-authenticator': 'mfaSettings.errors.noAuthenticator',
  required: 'federation.required.cannotTurnOff',
} as const satisfies Record<MfaPreferenceRefusal, string>;

/** POST /settings/mfa: the choice of the card (the specification's section 4, Multi-factor authentication). */
function submitMfa(deps: AccountDeps): MemberHandler {
  return async (req, res, { user, session }) => {
    const method = readFormField(req, 'method');
    const enabled = readFormField(req, 'enabled') === '1';
    const typed = { enabled, method, endOthers: endOthersTicked(req) };
    const { t } = req;
    const refuse = (key: TextKey) => renderMfaPage(deps, req, res, user, { status: 400, typed, error: t(key) });
    // The toggle only matters while no factor is enabled; otherwise only the choice counts.
    const isOn = user.mfaPreference !== 'none' || user.secondFactorRequired;
    if (!isChoice(method) || !(isOn || enabled || method === 'none')) {
      return refuse('mfaSettings.card.choose');
    }
    if (method === 'sms' && !deps.smsOffered) return refuse('mfaSettings.errors.noPhone');
    if (method === 'none' && user.secondFactorRequired) return refuse('federation.required.cannotTurnOff');
    if (method === user.mfaPreference) return res.redirect(303, securityHomePath);
    const first = enrolmentUrlBefore(await toAuthenticatorsView(deps, user), method);
    if (first !== undefined) return res.redirect(303, first);
    const preferred = await deps.mfa.enrolling.prefer(user, method, getRequestOrigin(req));
    deps.log.info(
      { act: 'mfa-preference', outcome: toPublicOutcome(preferred.kind), wanted: method },
      'second factor preference',
    );
    switch (preferred.kind) {
      case 'unchanged':
        return res.redirect(303, securityHomePath);
      case 'not-found':
        throw new HttpError('unauthorized', { detail: 'user or password has changed' });
      case 'refused':
        return refuse(refusalTexts[preferred.why]);
      case 'set':
        await endOthersIfTicked(deps, req, { user, session });
        if (method === 'none') return res.redirect(303, accountHomeUrl('mfa-off'));
        return res.redirect(
          303,
          await afterEnablingFactor(
            deps,
            req,
            res,
            { user, session },
            { done: `mfa-${method}`, codes: preferred.recoveryCodes },
          ),
        );
    }
  };
}

export function mfaRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(mfaPath)
    .get(requireRecentAuth(deps, showMfa(deps)))
    .post(requireRecentAuth(deps, submitMfa(deps), { enabled: 1, method: 10, [endOthersField]: 1 }))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}

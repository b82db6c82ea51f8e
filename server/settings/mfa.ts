import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import type { TextKey } from '../../locales/index.ts';
import type { PageContext } from '../../views/page-context.ts';
import { MfaCard, type MfaCardProps } from '../../views/settings/mfa-card.tsx';
import type { FactorChoice, FactorsShown, MfaFormProps } from '../../views/settings/mfa-form.tsx';
import { MfaPage } from '../../views/settings/mfa-page.tsx';
import type { User } from '../account/index.ts';
import { field, HttpError, methodNotAllowed } from '../http/index.ts';
import type { PreferenceRefusal } from '../mfa/index.ts';
import { originOf } from '../session/index.ts';
import { lacksDemandedFactor } from '../sign-in/index.ts';
import { keepWhereTo } from './after-set-up.ts';
import type { CardSource } from './cards.ts';
import type { SettingsDeps } from './deps.ts';
import { endOthersField, endOthersIfTicked, endOthersTicked } from './end-others.ts';
import { type MemberHandler, recently } from './guard.ts';
import { codesPath, mfaHome, mfaPath, phonePath, smsPath, totpPath } from './mfa-paths.ts';
import { homeAfter } from './notices.ts';
import { afterTurningOn } from './recovery-codes.ts';
import { shownNumber } from './shown-number.ts';

type CardDeps = Pick<SettingsDeps, 'mfa' | 'smsOffered'>;

async function factorsShown({ mfa, smsOffered }: CardDeps, user: User): Promise<FactorsShown> {
  const { preference, totp, sms, recoveryCodesLeft } = await mfa.enrolling.factorsOf(user);
  const number = sms && user.phone !== null ? { number: shownNumber(user.phone) } : {};
  return { preference, required: user.secondFactorRequired, totp, ...number, smsOffered, recoveryCodesLeft };
}

/** What the MFA card of the settings shows of a member. */
export async function mfaCardProps(deps: CardDeps, user: User): Promise<Omit<MfaCardProps, 'ctx'>> {
  const factors = await factorsShown(deps, user);
  return { factors, action: mfaPath, phoneHref: phonePath, totpHref: totpPath, codesHref: codesPath };
}

/** The card on the settings' home. */
export const mfaCard: CardSource = async (deps, _req, { user }) => {
  const props = await mfaCardProps(deps, user);
  return (ctx: PageContext) => createElement(MfaCard, { ctx, ...props, key: 'mfa' });
};

type Shown = Pick<MfaFormProps, 'typed'> & { error?: string; status?: number };

async function sendMfaPage(deps: SettingsDeps, req: Request, res: Response, user: User, given: Shown = {}) {
  const shown = deps.pages.shownAt(req, res, mfaPath, given);
  if (!shown) return;
  const { status = 200, typed, error } = shown;
  const factors = await factorsShown(deps, user);
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(MfaPage, {
        ctx,
        factors,
        due: lacksDemandedFactor(user),
        action: mfaPath,
        phoneHref: phonePath,
        typed,
        error,
      }),
    { title: (ctx) => ctx.t('mfaSettings.card.title'), address: mfaPath },
  );
}

/** GET /settings/mfa. */
function showMfa(deps: SettingsDeps): MemberHandler {
  return async (req, res, { user }) => {
    keepWhereTo(deps, req, res, user);
    const kept = await deps.stash.take(req, res, user.id);
    await sendMfaPage(deps, req, res, user, {
      ...(kept && {
        typed: {
          enabled: kept.enabled === '1',
          method: kept.method ?? '',
          endOthers: kept[endOthersField] === '1',
        },
      }),
    });
  };
}

const isChoice = (method: string): method is FactorChoice => ['sms', 'totp', 'none'].includes(method);

/** Where a choice leads whose factor must be set up first; undefined: it can be saved. */
function setUpFirst({ totp, number }: FactorsShown, choice: FactorChoice): string | undefined {
  if (choice === 'totp' && !totp) return totpPath;
  // A number shows anew that codes arrive there.
  if (choice === 'sms') return number === undefined ? phonePath : smsPath;
  return undefined;
}

const refusalTexts = {
  'no-phone': 'mfaSettings.errors.noPhone',
  'no-authenticator': 'mfaSettings.errors.noAuthenticator',
  required: 'federation.required.cannotTurnOff',
} as const satisfies Record<PreferenceRefusal, string>;

/** POST /settings/mfa: the choice of the card (the specification's section 4, Multi-factor authentication). */
function chooseMfa(deps: SettingsDeps): MemberHandler {
  return async (req, res, { user, session }) => {
    const method = field(req, 'method');
    const enabled = field(req, 'enabled') === '1';
    const typed = { enabled, method, endOthers: endOthersTicked(req) };
    const { t } = req;
    const refuse = (key: TextKey) => sendMfaPage(deps, req, res, user, { status: 400, typed, error: t(key) });
    // The toggle can be turned on while nothing is asked for; while something is, the choice alone counts.
    const isOn = user.mfaPreference !== 'none' || user.secondFactorRequired;
    if (!isChoice(method) || !(isOn || enabled || method === 'none')) {
      return refuse('mfaSettings.card.choose');
    }
    if (method === 'sms' && !deps.smsOffered) return refuse('mfaSettings.errors.noPhone');
    if (method === 'none' && user.secondFactorRequired) return refuse('federation.required.cannotTurnOff');
    if (method === user.mfaPreference) return res.redirect(303, mfaHome);
    const first = setUpFirst(await factorsShown(deps, user), method);
    if (first !== undefined) return res.redirect(303, first);
    const preferred = await deps.mfa.enrolling.prefer(user, method, originOf(req));
    deps.log.info({ act: 'mfa-preference', outcome: preferred.kind, wanted: method }, 'second factor chosen');
    switch (preferred.kind) {
      case 'unchanged':
        return res.redirect(303, mfaHome);
      case 'gone':
        throw new HttpError('unauthorized', { detail: 'the member, or their password, has changed meanwhile' });
      case 'refused':
        return refuse(refusalTexts[preferred.why]);
      case 'set':
        await endOthersIfTicked(deps, req, { user, session });
        if (method === 'none') return res.redirect(303, homeAfter('mfa-off'));
        return res.redirect(
          303,
          await afterTurningOn(
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

export function mfaRoutes(router: Router, deps: SettingsDeps): void {
  router
    .route(mfaPath)
    .get(recently(deps, showMfa(deps)))
    .post(recently(deps, chooseMfa(deps), { enabled: 1, method: 10, [endOthersField]: 1 }))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}

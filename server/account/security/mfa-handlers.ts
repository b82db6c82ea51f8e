import { createElement } from 'react';
import type { TextKey } from '../../../locales/index.ts';
import { MfaCard, type MfaCardProps } from '../../../views/account/mfa-card.tsx';
import type { AuthenticatorsView, FactorChoice, MfaFormProps } from '../../../views/account/mfa-form.tsx';
import { MfaPage } from '../../../views/account/mfa-page.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { type AddPage, HttpError, refusalView } from '../../http/index.ts';
import { changeMfaPreference, listAuthenticators, mfaPreferenceRefusals } from '../../mfa/index.ts';
import { toPublicOutcome } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { User } from '../../users/index.ts';
import { mustSetUpSecondFactor } from '../../users/index.ts';
import { formatPhone } from '../contact/format-phone.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersField, endOthersIfTicked, endOthersTicked } from '../devices/end-others.ts';
import type { HomeCardSource } from '../home-card-source.ts';
import { accountHomeUrl } from '../notices.ts';
import { codesPath, mfaPath, phonePath, securityHomePath, smsPath, totpPath } from '../paths.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { rememberEnrolmentReturn } from './enrolment-return.ts';
import { afterEnablingFactor } from './recovery-codes-handlers.ts';

type CardDeps = Pick<AccountDeps, 'database' | 'smsOffered'>;

async function toAuthenticatorsView({ database, smsOffered }: CardDeps, user: User): Promise<AuthenticatorsView> {
  const { preference, totp, sms, recoveryCodesLeft } = await listAuthenticators(database, user);
  const number = sms && user.phone !== null ? { number: formatPhone(user.phone) } : {};
  return { preference, required: user.secondFactorRequired, totp, ...number, smsOffered, recoveryCodesLeft };
}

/** The content of the MFA card for a user. */
export async function mfaCardProps(deps: CardDeps, user: User): Promise<Omit<MfaCardProps, 'ctx'>> {
  const factors = await toAuthenticatorsView(deps, user);
  return { factors, action: mfaPath, phoneHref: phonePath, totpHref: totpPath, codesHref: codesPath };
}

/** The card on the settings' home. */
export const mfaCard: HomeCardSource = async ({ user }, deps) => {
  const props = await mfaCardProps(deps, user);
  return (ctx: PageContext) => createElement(MfaCard, { ctx, ...props, key: 'mfa' });
};

type MfaPageState = Pick<MfaFormProps, 'typed'> & { error?: string; status?: number };

async function renderMfaPage(r: UserRequest, deps: AccountDeps, view: MfaPageState = {}) {
  const state = r.viewAt(mfaPath, view);
  if (!state) return;
  const { status, typed, error } = state;
  const factors = await toAuthenticatorsView(deps, r.user);
  r.render(
    MfaPage,
    { factors, due: mustSetUpSecondFactor(r.user), action: mfaPath, phoneHref: phonePath, typed, error },
    { title: 'mfaSettings.card.title', address: mfaPath, status },
  );
}

/** GET /settings/mfa. */
async function showMfa(r: UserRequest, deps: AccountDeps) {
  rememberEnrolmentReturn(r, deps);
  const stored = await deps.formDrafts.takeDraft(r);
  const typed = stored && {
    enabled: stored.enabled === '1',
    method: stored.method ?? '',
    endOthers: stored[endOthersField] === '1',
  };
  await renderMfaPage(r, deps, typed && { typed });
}

const isChoice = (method: string): method is FactorChoice => ['sms', 'totp', 'none'].includes(method);

/** The choice of the form; undefined if there is none. */
function readChoice(r: UserRequest): FactorChoice | undefined {
  const method = r.field('method');
  // The toggle only matters while no factor is enabled; otherwise only the choice counts.
  const isOn = r.user.mfaPreference !== 'none' || r.user.secondFactorRequired || r.field('enabled') === '1';
  return isChoice(method) && (isOn || method === 'none') ? method : undefined;
}

/** The set-up page of a choice whose factor must be set up first; undefined: it can be saved. */
function enrolmentUrlBefore({ totp, number }: AuthenticatorsView, choice: FactorChoice): string | undefined {
  if (choice === 'totp' && !totp) return totpPath;
  // A number must prove again that it receives codes.
  if (choice === 'sms') return number === undefined ? phonePath : smsPath;
  return undefined;
}

/** POST /settings/mfa: the choice of the card (the specification's section 4, Multi-factor authentication). */
async function submitMfa(r: UserRequest, deps: AccountDeps) {
  const { t, user } = r;
  const typed = { enabled: r.field('enabled') === '1', method: r.field('method'), endOthers: endOthersTicked(r) };
  const refuse = (key: TextKey) => renderMfaPage(r, deps, { status: 400, typed, error: t(key) });
  const method = readChoice(r);
  if (method === undefined) return refuse('mfaSettings.card.choose');
  if (method === 'sms' && !deps.smsOffered) return refuse('mfaSettings.errors.noPhone');
  if (method === 'none' && user.secondFactorRequired) return refuse('federation.required.cannotTurnOff');
  if (method === user.mfaPreference) return r.redirect(securityHomePath);
  const first = enrolmentUrlBefore(await toAuthenticatorsView(deps, user), method);
  if (first !== undefined) return r.redirect(first);
  const preferred = await changeMfaPreference(deps.mfa, user, { preference: method, from: r.origin });
  const outcome = toPublicOutcome(preferred.kind);
  r.log.info({ act: 'mfa-preference', outcome, wanted: method }, 'second factor preference');
  switch (preferred.kind) {
    case 'unchanged':
      return r.redirect(securityHomePath);
    case 'not-found':
      throw new HttpError('unauthorized', { detail: 'user or password has changed' });
    case 'refused': {
      const { status, text } = refusalView(r, mfaPreferenceRefusals, { kind: preferred.why });
      return renderMfaPage(r, deps, { status, typed, error: text });
    }
    case 'set': {
      await endOthersIfTicked(r, deps);
      if (method === 'none') return r.redirect(accountHomeUrl('mfa-off'));
      const turnedOn = { done: `mfa-${method}`, codes: preferred.recoveryCodes } as const;
      return r.redirect(await afterEnablingFactor(r, deps, turnedOn));
    }
  }
}

export function mfaRoutes(add: AddPage<AccountDeps>): void {
  add(mfaPath, {
    get: requireRecentAuth(showMfa),
    post: requireRecentAuth(submitMfa, { enabled: 1, method: 10, [endOthersField]: 1 }),
  });
}

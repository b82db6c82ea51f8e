import { createElement } from 'react';
import type { TextKey } from '../../../locales/index.ts';
import { MfaCard, type MfaCardProps } from '../../../views/account/mfa-card.tsx';
import type { AuthenticatorsView, FactorChoice } from '../../../views/account/mfa-form.tsx';
import { MfaPage } from '../../../views/account/mfa-page.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { HttpError, refusalView } from '../../http/index.ts';
import { changeMfaPreference, listAuthenticators, mfaPreferenceRefusals } from '../../mfa/index.ts';
import { toPublicOutcome } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { User } from '../../users/index.ts';
import { mustSetUpSecondFactor } from '../../users/index.ts';
import { formatPhone } from '../contact/format-phone.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersField, endOthersIfTicked, endOthersTicked } from '../devices/end-others.ts';
import type { HomeCardSource } from '../home-card-source.ts';
import { accountHomeAfter } from '../notices.ts';
import { codesPath, mfaPath, phonePath, securityHomePath, smsPath, totpPath } from '../paths.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { settingsPage } from '../settings-page.ts';
import { afterEnablingFactor } from './after-enabling-factor.ts';
import { rememberEnrolmentReturn } from './enrolment-return.ts';
import { startTotpSetup } from './totp-enrolment-handlers.ts';

type CardDeps = Pick<AccountDeps, 'database' | 'smsOffered'>;

async function toAuthenticatorsView({ database, smsOffered }: CardDeps, user: User): Promise<AuthenticatorsView> {
  const { preference, totp, sms, recoveryCodesLeft } = await listAuthenticators(database, user);
  const number = sms && user.phone !== null ? { number: formatPhone(user.phone) } : {};
  return { preference, required: user.secondFactorRequired, totp, ...number, smsOffered, recoveryCodesLeft };
}

/** The content of the MFA card for a user. */
async function mfaCardProps(deps: CardDeps, user: User): Promise<Omit<MfaCardProps, 'ctx'>> {
  const factors = await toAuthenticatorsView(deps, user);
  return { factors, action: mfaPath, phoneHref: phonePath, totpHref: totpPath, codesHref: codesPath };
}

/** The card on the settings' home. */
export const mfaCard: HomeCardSource = async ({ user }, deps) => {
  const props = await mfaCardProps(deps, user);
  return (ctx: PageContext) => createElement(MfaCard, { ctx, ...props, key: 'mfa' });
};

const isChoice = (method: string): method is FactorChoice => ['sms', 'totp', 'none'].includes(method);

/** The choice of the form; undefined if there is none. */
function readChoice(r: UserRequest): FactorChoice | undefined {
  const method = r.field('method');
  // The toggle only matters while no factor is enabled; otherwise only the choice counts.
  const isOn = r.user.mfaPreference !== 'none' || r.user.secondFactorRequired || r.field('enabled') === '1';
  return isChoice(method) && (isOn || method === 'none') ? method : undefined;
}

/** Starts the set-up of a factor that must be set up before its choice can be saved. @returns its page; undefined: none is needed */
async function startEnrolment(r: UserRequest, deps: AccountDeps, choice: FactorChoice): Promise<string | undefined> {
  const { totp, number } = await toAuthenticatorsView(deps, r.user);
  if (choice === 'totp' && !totp) return startTotpSetup(r, deps);
  // A number must prove again that it receives codes.
  if (choice === 'sms') return number === undefined ? phonePath : smsPath;
  return undefined;
}

/** The choice of the card (the specification's section 4, Multi-factor authentication). */
async function submit(r: UserRequest, deps: AccountDeps) {
  const { t, user } = r;
  const typed = { enabled: r.field('enabled') === '1', method: r.field('method'), endOthers: endOthersTicked(r) };
  const refuse = (key: TextKey) => ({ status: 400, typed, error: t(key) });
  const method = readChoice(r);
  if (method === undefined) return refuse('mfaSettings.card.choose');
  if (method === 'sms' && !deps.smsOffered) return refuse('mfaSettings.errors.noPhone');
  if (method === 'none' && user.secondFactorRequired) return refuse('federation.required.cannotTurnOff');
  if (method === user.mfaPreference) return securityHomePath;
  const enrolment = await startEnrolment(r, deps, method);
  if (enrolment !== undefined) return enrolment;
  const preferred = await changeMfaPreference(deps.mfa, user, { preference: method, from: r.origin });
  const outcome = toPublicOutcome(preferred.kind);
  r.log.info({ act: 'mfa-preference', outcome, wanted: method }, 'second factor preference');
  switch (preferred.kind) {
    case 'unchanged':
      return securityHomePath;
    case 'not-found':
      throw new HttpError('unauthorized', { detail: 'user or password has changed' });
    case 'refused': {
      const { status, text } = refusalView(r, mfaPreferenceRefusals, { kind: preferred.why });
      return { status, typed, error: text };
    }
    case 'set':
      if (method !== 'none') {
        return afterEnablingFactor(r, deps, { done: `mfa-${method}`, codes: preferred.recoveryCodes });
      }
      await endOthersIfTicked(r, deps);
      return accountHomeAfter('mfa-off');
  }
}

/** The choice of a second factor. */
export const mfaPage = settingsPage({
  path: mfaPath,
  title: 'mfaSettings.card.title',
  guard: requireRecentAuth,
  Page: MfaPage,
  open(r, deps) {
    rememberEnrolmentReturn(r, deps);
    return {};
  },
  toProps: async ({ user }, deps) => ({
    factors: await toAuthenticatorsView(deps, user),
    due: mustSetUpSecondFactor(user),
    phoneHref: phonePath,
  }),
  draft: {
    fields: { enabled: 1, method: 10, [endOthersField]: 1 },
    toState: ({ enabled, method = '', [endOthersField]: endOthers }) => ({
      typed: { enabled: enabled === '1', method, endOthers: endOthers === '1' },
    }),
    hasForm: () => true,
  },
  act: submit,
});

import type { T } from '../../locales/index.ts';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Chip } from '../parts/chip.tsx';
import { type RadioCard, RadioCards } from '../parts/radio-cards.tsx';
import { ToggleView } from '../parts/toggle.tsx';
import { EndOthers } from './end-others.tsx';

export type FactorChoice = 'sms' | 'totp' | 'none';

/** The user's second factors, for display. */
export interface AuthenticatorsView {
  preference: FactorChoice;
  /** A provider of the user requires one: it can be chosen, but not disabled. */
  required?: boolean;
  /** An authenticator app is active. */
  totp: boolean;
  /** The number for codes by SMS, masked: `+49…67`; undefined: no verified number. */
  number?: string | undefined;
  /** Whether text messages can be sent. */
  smsOffered: boolean;
  recoveryCodesLeft: number;
}

export interface MfaFormProps {
  /** Of the form. */
  id?: string;
  ctx: PageContext;
  factors: AuthenticatorsView;
  action: string;
  phoneHref: string;
  /** The choice in a refused form. */
  typed?: { enabled: boolean; method: string; endOthers: boolean } | undefined;
  error?: string | undefined;
}

/** `phoneHref`: verifies the number that codes by SMS need; undefined: without the link. */
function choices(t: T, factors: AuthenticatorsView, phoneHref?: string): RadioCard[] {
  const { preference, required, number, smsOffered } = factors;
  const smsDetail = preference === 'sms' ? 'mfaSettings.card.smsDetail' : 'mfaSettings.card.smsWould';
  const badge = (choice: FactorChoice) => (preference === choice ? { badge: t('mfaSettings.card.inUse') } : {});
  const sms: RadioCard = {
    value: 'sms',
    title: t('mfaSettings.card.sms'),
    detail: number === undefined ? t('mfaSettings.card.smsNeedsPhone') : t(smsDetail, { number }),
    ...(number === undefined && { disabled: true }),
    ...(number === undefined &&
      phoneHref !== undefined &&
      smsOffered && { below: <a href={phoneHref}>{t('mfaSettings.card.addPhone')}</a> }),
    ...badge('sms'),
  };
  const none: RadioCard = {
    value: 'none',
    title: t('mfaSettings.card.none'),
    detail: t('mfaSettings.card.noneDetail'),
  };
  return [
    ...(smsOffered || preference === 'sms' ? [sms] : []),
    { value: 'totp', title: t('mfaSettings.card.totp'), detail: t('mfaSettings.card.totpDetail'), ...badge('totp') },
    ...(required ? [] : [none]),
  ];
}

/** Whether it is on; the method in use is marked among the choices. */
export function MfaState({ ctx: { t }, factors: { preference } }: Pick<MfaFormProps, 'ctx' | 'factors'>) {
  const isOn = preference !== 'none';
  return <Chip tone={isOn ? 'ok' : 'plain'}>{t(isOn ? 'mfaSettings.card.on' : 'mfaSettings.card.off')}</Chip>;
}

/** The methods, before the toggle shows the choices: no factor is enabled. */
function MethodList({ ctx: { t }, factors }: Pick<MfaFormProps, 'ctx' | 'factors'>) {
  return (
    <div className="mfa-methods">
      <p className="muted small">
        {t(factors.smsOffered ? 'mfaSettings.card.offLead' : 'mfaSettings.card.offLeadApp')}
      </p>
    </div>
  );
}

/**
 * The specification's toggle and radio choices. The toggle can only be turned on while no factor is enabled; it opens
 * the choices (client/enrolment.css). Once a factor is enabled or required, the choices are open: one of them disables
 * the factor, unless it is required.
 */
export function MfaForm({ ctx, id, factors, action, phoneHref, typed, error }: MfaFormProps) {
  const { t } = ctx;
  const { preference, required } = factors;
  const isOn = preference !== 'none';
  const cards = choices(t, factors, phoneHref);
  const typedMethod = cards.some(({ value }) => value === typed?.method) ? typed?.method : undefined;
  return (
    <form className="form mfa-form" id={id} method="post" action={action}>
      {required && <p className="muted small">{t('federation.required.cannotTurnOff')}</p>}
      {!isOn && !required && (
        <>
          <ToggleView name="enabled" label={t('mfaSettings.card.toggle')} checked={typed?.enabled ?? false} />
          <MethodList ctx={ctx} factors={factors} />
        </>
      )}
      <div className="mfa-choices">
        <RadioCards
          name="method"
          legend={t('mfaSettings.card.legend')}
          cards={cards}
          value={typedMethod ?? (isOn ? preference : 'totp')}
          error={error}
        />
        <div className="mfa-save">
          <EndOthers ctx={ctx} checked={typed?.endOthers} />
          <div className="actions">
            <Button>{t('mfaSettings.card.save')}</Button>
          </div>
        </div>
      </div>
    </form>
  );
}

import type { ReactNode } from 'react';
import { type PageContext, pageForm } from '../page-context.ts';
import { Stepper } from '../parts/stepper.tsx';
import { AccountAction, type ActionProblem } from './account-action.tsx';
import { MfaForm, type MfaFormProps } from './mfa-form.tsx';

interface MfaActProps {
  ctx: PageContext;
  id: string;
  title: string;
  lead?: string;
  /** The step of the set-up of an authenticator app, 0 to 2. */
  step?: number;
  problem?: ActionProblem | undefined;
  children: ReactNode;
}

/** One action about the second factor. */
export function MfaAct({ ctx, step, children, ...act }: MfaActProps) {
  const { t } = ctx;
  return (
    <AccountAction ctx={ctx} tab="mfa-data" {...act}>
      {step !== undefined && (
        <Stepper
          t={t}
          label={t('mfaSettings.totp.steps')}
          steps={[t('mfaSettings.totp.step1'), t('mfaSettings.totp.step2'), t('mfaSettings.totp.step3')]}
          current={step}
        />
      )}
      {children}
    </AccountAction>
  );
}

/** The choice of a second factor on a page of its own: the card's form returns here. */
export function MfaPage({
  due,
  ...form
}: MfaFormProps & { /** It must be set up before anything else. */ due?: boolean }) {
  const { ctx } = form;
  const { t } = ctx;
  return (
    <MfaAct
      ctx={ctx}
      id="mfa"
      title={t(due ? 'federation.required.title' : 'mfaSettings.card.title')}
      lead={t(due ? 'federation.required.due' : 'mfaSettings.card.note')}
    >
      <MfaForm {...form} id={pageForm} />
    </MfaAct>
  );
}

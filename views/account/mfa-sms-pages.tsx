import type { PageContext } from '../page-context.ts';
import { CodeForm } from '../parts/code-form.tsx';
import type { NewestCode } from '../parts/code-input.tsx';
import { PageNotice } from '../parts/page-notice.tsx';
import { ActButtons } from './account-action.tsx';
import { EndOthers } from './end-others.tsx';
import { MfaAct } from './mfa-page.tsx';

interface MfaSmsPageProps {
  ctx: PageContext;
  action: string;
  /** The user's number, masked: `+49…67`. */
  number: string;
  problem?: string | undefined;
}

const notSent = ({ t }: PageContext, text: string | undefined) =>
  text === undefined ? undefined : { title: t('mfaSettings.sms.refused'), text };

/** One code by SMS must arrive before they become the second factor. */
export function MfaSmsPage({ ctx, action, number, problem }: MfaSmsPageProps) {
  const { t } = ctx;
  return (
    <MfaAct
      ctx={ctx}
      id="mfa-sms"
      title={t('mfaSettings.sms.title')}
      lead={t('mfaSettings.sms.lead', { number })}
      problem={notSent(ctx, problem)}
    >
      <form className="form" method="post" action={action}>
        <ActButtons ctx={ctx} submit={t('mfaSettings.sms.send')} tab="mfa-data" />
      </form>
    </MfaAct>
  );
}

interface MfaSmsCodePageProps extends MfaSmsPageProps {
  minutes: number;
  error?: string | undefined;
  /** Another code was just sent. */
  resent: boolean;
  waitSeconds: number;
  /** The code that was sent last. */
  newest?: NewestCode | undefined;
  /** Whether the checkbox about the other devices is ticked. */
  endOthers?: boolean | undefined;
}

/** The received code enables it. */
export function MfaSmsCodePage(props: MfaSmsCodePageProps) {
  const { ctx, action, number, problem, minutes, error, resent, waitSeconds, endOthers, newest } = props;
  const { t } = ctx;
  return (
    <MfaAct
      ctx={ctx}
      id="mfa-sms"
      title={t('mfaSettings.sms.codeTitle')}
      lead={t('mfaSettings.sms.sent', { number, minutes })}
      problem={notSent(ctx, problem)}
    >
      {resent && (
        <PageNotice
          ctx={ctx}
          notice={{ kind: 'success', text: `${t('mfaSettings.sms.resent')} ${t('codes.replaced')}`, duration: 'short' }}
        />
      )}
      <CodeForm
        ctx={ctx}
        action={action}
        label={t('mfa.challenge.label')}
        incomplete={t('codes.incomplete')}
        error={error}
        newest={newest}
        options={<EndOthers ctx={ctx} checked={endOthers} />}
        resend={{
          question: t('mfaSettings.sms.missing'),
          label: t('mfaSettings.sms.resend'),
          waitSeconds,
          waitText: t('mfaSettings.sms.in', { seconds: '%' }),
        }}
      >
        <ActButtons ctx={ctx} submit={t('mfaSettings.totp.activate')} tab="mfa-data" />
      </CodeForm>
    </MfaAct>
  );
}

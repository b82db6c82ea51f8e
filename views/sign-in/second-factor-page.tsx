import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { CodeInput, type NewestCode } from '../parts/code-input.tsx';
import { Field } from '../parts/field.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Icon } from '../parts/icon.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { Resend, ResendForm } from '../parts/resend.tsx';
import { Script } from '../parts/script.tsx';
import { ReauthenticateBackdrop, SignInBackdrop } from './backdrop.tsx';

type Method = 'totp' | 'sms' | 'recovery';

export interface SecondFactorPageProps {
  ctx: PageContext;
  action: string;
  /** The target of closing: the user is not signed in. */
  closeHref: string;
  method: Method;
  /** The user's other methods. */
  others: readonly Method[];
  /** The user's number, masked. */
  phone?: string | undefined;
  /** No code could be sent. */
  unsent: boolean;
  /** Until another code can be requested. */
  waitSeconds: number;
  /** The code that was sent last. */
  newest?: NewestCode | undefined;
  /** How long the device may be remembered; undefined: not offered. */
  rememberDays?: number;
  rememberDevice?: boolean;
  error?: string | undefined;
  /** Help beside the error. */
  hint?: string | undefined;
  notice?: PageNoticeProps;
  /** The page behind the dialog, with scripts. */
  backdrop: 'sign-in' | 'again';
}

const ways = {
  totp: 'mfa.challenge.useTotp',
  sms: 'mfa.challenge.useSms',
  recovery: 'mfa.challenge.useRecovery',
} as const;

function Lead({ ctx: { t }, method, phone, unsent }: SecondFactorPageProps) {
  if (method !== 'sms') return <p className="muted">{t(`mfa.challenge.${method}`)}</p>;
  if (unsent) return <p className="muted">{t('mfa.challenge.smsUnsent')}</p>;
  if (phone === undefined) return <p className="muted">{t('mfa.challenge.sms')}</p>;
  const [before, after] = t('mfa.challenge.smsTo', { phone: '\n' }).split('\n');
  return (
    <p className="muted">
      {before}
      <strong className="address">{phone}</strong>
      {after}
    </p>
  );
}

function CodeField({ ctx, action, method, error, hint, newest, waitSeconds }: SecondFactorPageProps) {
  const { t } = ctx;
  if (method === 'recovery') {
    return (
      <Field
        name="code"
        label={t('mfa.challenge.recoveryLabel')}
        error={error}
        type="text"
        placeholder="XXXX-XXXX-XXXX-XXXX"
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        autoFocus
      />
    );
  }
  return (
    <CodeInput
      ctx={ctx}
      name="code"
      label={t('mfa.challenge.label')}
      length={6}
      incomplete={t('codes.incomplete')}
      error={error}
      hint={hint}
      newest={newest}
      resend={
        method === 'sms' && (
          <Resend
            ctx={ctx}
            action={action}
            question={t('mfa.challenge.missing')}
            label={t('mfa.challenge.resend')}
            waitSeconds={waitSeconds}
            waitText={t('mfa.challenge.wait', { seconds: '%' })}
          />
        )
      }
      autoFocus
      isAlone
    />
  );
}

function RememberDevice({ ctx: { t }, rememberDays, rememberDevice = false }: SecondFactorPageProps) {
  if (rememberDays === undefined) return null;
  const label = t('mfa.challenge.remember', { count: rememberDays });
  return <Checkbox name="rememberDevice" label={label} checked={rememberDevice} />;
}

function OtherMethods({ ctx: { t }, action, others }: SecondFactorPageProps) {
  return (
    <section aria-labelledby="other-ways">
      <h2 className="small muted" id="other-ways">
        {t('mfa.challenge.another')}
      </h2>
      <form method="post" action={action}>
        <HiddenFields fields={{ act: 'use' }} />
        {others.map((other) => (
          <Button key={other} kind="link" size="small" name="method" value={other}>
            {t(ways[other])}
          </Button>
        ))}
      </form>
    </section>
  );
}

/**
 * The second step of a sign-in (specification, section 2): a dialog in the place of the sign-in form. On narrow screens
 * with scripts, `client/entries/modal.ts` shows it over that form, which is not reachable meanwhile.
 */
export function SecondFactorPage(props: SecondFactorPageProps) {
  const { ctx, action, closeHref, method, others, notice, backdrop } = props;
  const { t } = ctx;
  const isRecovery = method === 'recovery';
  return (
    <AuthLayout ctx={ctx} long>
      <Script ctx={ctx} entry="busy" />
      <Script ctx={ctx} entry="modal" />
      <div hidden inert data-behind="">
        {backdrop === 'sign-in' ? <SignInBackdrop ctx={ctx} /> : <ReauthenticateBackdrop ctx={ctx} />}
      </div>
      <dialog className="dialog in-page" open aria-labelledby="second-factor-title" data-modal={closeHref}>
        <div className="panel">
          <div className="panel-head">
            <h1 id="second-factor-title">
              {t(isRecovery ? 'mfa.challenge.recoveryHeading' : 'mfa.challenge.heading')}
            </h1>
            <Lead {...props} />
          </div>
          <PageNotice ctx={ctx} notice={notice} />
          <form className="form" method="post" action={action} noValidate>
            <HiddenFields fields={{ method }} />
            {/* Above the code, whose last digit sends the form. */}
            <RememberDevice {...props} />
            <CodeField {...props} />
            <Button block>{t('mfa.challenge.confirm')}</Button>
          </form>
          {method === 'sms' && <ResendForm action={action} />}
          <div className="panel-ways">
            {others.length > 0 && <OtherMethods {...props} />}
            <form className="dialog-foot" method="post" action={action}>
              <Button kind="link" size="small" name="act" value="cancel">
                {t('mfa.challenge.close')}
              </Button>
            </form>
          </div>
          {method === 'sms' && ctx.banner?.dialog}
        </div>
        <a className="dialog-close" href={closeHref} aria-label={t('mfa.challenge.close')} data-close="">
          <Icon name="close" />
        </a>
      </dialog>
    </AuthLayout>
  );
}

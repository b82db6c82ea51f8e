import { type PageContext, pageForm } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { CodeForm } from '../parts/code-form.tsx';
import type { NewestCode } from '../parts/code-input.tsx';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageNotice } from '../parts/page-notice.tsx';
import { AccountAction, ActButtons, type ActionProblem } from './account-action.tsx';
import { EndOthers } from './end-others.tsx';
import type { FormPageProps } from './form-page.ts';

type EmailPageProps = FormPageProps<'email'>;

/** 'Edit Email' (specification, section 2): a code goes to the new address before anything changes. */
export function EmailPage({ ctx, action, controls, values, errors, problem }: EmailPageProps) {
  const { t } = ctx;
  return (
    <AccountAction
      ctx={ctx}
      id="edit-email"
      title={t('contact.email.title')}
      lead={t('contact.email.lead')}
      tab="sign-in"
      problem={problem}
    >
      <form className="form" id={pageForm} method="post" action={action} noValidate>
        <Field
          {...controls.email}
          label={t('contact.email.label')}
          error={errors.email}
          defaultValue={values.email}
          autoFocus
        />
        <ActButtons ctx={ctx} submit={t('contact.code.send')} tab="sign-in" />
      </form>
    </AccountAction>
  );
}

interface PhonePageProps extends FormPageProps<'phone'> {
  /** Whether the number can be removed; `in-use`: the second factor uses it, so it stays. */
  removable: 'yes' | 'no' | 'in-use';
  /** Without text messages no number can be confirmed. */
  offered: boolean;
}

/** 'Edit Phone': a code goes to the new number first. Removing a number needs none. */
export function PhonePage(props: PhonePageProps) {
  const { ctx, action, controls, values, errors, problem, removable, offered } = props;
  const { t } = ctx;
  return (
    <AccountAction
      ctx={ctx}
      id="edit-phone"
      title={t('contact.phone.title')}
      lead={offered ? t('contact.phone.lead') : undefined}
      tab="sign-in"
      problem={problem}
    >
      {!offered && <Notice kind="info">{t('contact.phone.notOffered')}</Notice>}
      {offered && (
        <form className="form" id={pageForm} method="post" action={action} noValidate>
          <Field
            {...controls.phone}
            label={t('contact.phone.label')}
            hint={t('contact.phone.hint')}
            error={errors.phone}
            defaultValue={values.phone}
            autoFocus
          />
          <ActButtons ctx={ctx} submit={t('contact.code.send')} tab="sign-in" />
        </form>
      )}
      {removable === 'in-use' && <p className="muted small">{t('contact.phone.inUse')}</p>}
      {removable === 'yes' && (
        <form className="remove-number" method="post" action={action}>
          <Button kind="link" size="small" name="act" value="remove">
            {t('contact.phone.remove')}
          </Button>
        </form>
      )}
    </AccountAction>
  );
}

export interface ContactCodePageProps {
  ctx: PageContext;
  id: string;
  action: string;
  /** The destination of the code, in words. */
  sent: string;
  /** The form for another address or number. */
  other: { question: string; href: string };
  error?: string | undefined;
  problem?: ActionProblem | undefined;
  /** Another code was just sent. */
  resent: boolean;
  waitSeconds: number;
  /** The code that was sent last. */
  newest?: NewestCode | undefined;
  /** Whether the checkbox about the other devices is ticked; undefined: there is none. */
  endOthers?: boolean | undefined;
}

/** 'Verify code': proves the new address or number. */
export function ContactCodePage(props: ContactCodePageProps) {
  const { ctx, id, action, sent, other, error, problem, resent, waitSeconds, endOthers, newest } = props;
  const { t } = ctx;
  return (
    <AccountAction ctx={ctx} id={id} title={t('contact.code.title')} lead={sent} tab="sign-in" problem={problem}>
      {resent && (
        <PageNotice
          ctx={ctx}
          notice={{ kind: 'success', text: `${t('contact.code.resent')} ${t('codes.replaced')}`, duration: 'short' }}
        />
      )}
      <CodeForm
        ctx={ctx}
        action={action}
        label={t('contact.code.label')}
        incomplete={t('codes.incomplete')}
        error={error}
        newest={newest}
        options={endOthers !== undefined && <EndOthers ctx={ctx} checked={endOthers} />}
        resend={{
          question: t('contact.code.missing'),
          label: t('password.reset.sendAgain'),
          waitSeconds,
          waitText: t('password.reset.in', { seconds: '%' }),
        }}
      >
        <ActButtons ctx={ctx} submit={t('contact.code.submit')} tab="sign-in" />
      </CodeForm>
      <div className="panel-ways">
        <p className="muted small">
          {other.question}{' '}
          <a href={other.href} data-step="">
            {t('contact.code.change')}
          </a>
        </p>
      </div>
    </AccountAction>
  );
}

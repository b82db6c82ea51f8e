import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import type { Control } from '../parts/control.ts';
import { Field } from '../parts/field.tsx';
import { FormErrors, hasErrorSummary } from '../parts/form-errors.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { NewPassword } from '../parts/new-password.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { MoreProviderButtons, PrimaryProviderButtons, type ProviderButtonGroups } from '../parts/provider-buttons.tsx';
import { Script } from '../parts/script.tsx';
import { SignUpSteps } from './sign-up-steps.tsx';

type ProfileFieldName = 'givenName' | 'familyName' | 'email' | 'password';

export interface ProfilePageProps {
  ctx: PageContext;
  action: string;
  controls: Record<ProfileFieldName, Control>;
  signInHref: string;
  /** Earlier input; never the password. */
  values: { givenName: string; familyName: string; email: string };
  /** The address comes from the partner and cannot be changed. */
  lockedEmail?: boolean;
  /** Hidden fields: the visitor's origin, the shown version of the terms. */
  hidden: Record<string, string>;
  errors: Partial<Record<ProfileFieldName, string>>;
  /** The address has an account: the pages on which its owner signs in or sets a new password, with the address. */
  taken?: { signInHref: string; resetHref: string } | undefined;
  /** About the whole form. */
  problem?: { title?: string; text: string; support?: boolean };
  /** This browser has a sign-up: the link to its code. */
  resumableSignUp?: { email: string; href: string };
  /** The client app with a pending request. */
  clientName?: string;
  /** The result of an unsuccessful attempt at a provider. */
  providerNotice?: PageNoticeProps | undefined;
  /** The providers with which users can sign up. */
  providerButtons?: ProviderButtonGroups | undefined;
}

/** The focus: the summary of several errors, the refused field, else the first empty one. */
function firstField({ values, errors, lockedEmail }: ProfilePageProps): ProfileFieldName | undefined {
  if (hasErrorSummary(errors)) return undefined;
  const names = ['givenName', 'familyName', 'email'] as const;
  const refused = ([...names, 'password'] as const).find((name) => errors[name] !== undefined);
  return refused ?? names.find((name) => values[name] === '' && !(lockedEmail && name === 'email')) ?? 'password';
}

function Names({ ctx, controls, values, errors, focus }: ProfilePageProps & { focus: ProfileFieldName | undefined }) {
  const { t } = ctx;
  return (
    <div className="form-row">
      <Field
        {...controls.givenName}
        label={t('signUp.givenName')}
        error={errors.givenName}
        defaultValue={values.givenName}
        autoFocus={focus === 'givenName'}
      />
      <Field
        {...controls.familyName}
        label={t('signUp.familyName')}
        error={errors.familyName}
        defaultValue={values.familyName}
        autoFocus={focus === 'familyName'}
      />
    </div>
  );
}

/** A sentence with a link at its place, which opens beside the form, so that the input stays. */
function LinkSentence({
  ctx: { t },
  sentence,
  href,
  label,
}: {
  ctx: PageContext;
  sentence: string;
  href: string | undefined;
  label: string;
}) {
  const [before, after] = sentence.split('\n');
  return (
    <>
      {before}
      <a href={href} target="_blank" rel="noopener">
        {label}
        <span className="visually-hidden"> ({t('common.newTab')})</span>
      </a>
      {after}
    </>
  );
}

/** The terms notice. */
function TermsNotice({ ctx }: { ctx: PageContext }) {
  const { t, links } = ctx;
  const link = '\n';
  return (
    <p className="small muted">
      <LinkSentence
        ctx={ctx}
        sentence={t('signUp.terms.notice', { link })}
        href={links.terms}
        label={t('signUp.terms.link')}
      />
      {links.privacy !== undefined && (
        <>
          {' '}
          <LinkSentence
            ctx={ctx}
            sentence={t('signUp.terms.privacy', { link })}
            href={links.privacy}
            label={t('signUp.terms.privacyLink')}
          />
        </>
      )}
    </p>
  );
}

function TakenHint({ ctx: { t }, taken }: { ctx: PageContext; taken: NonNullable<ProfilePageProps['taken']> }) {
  const [before, between, after] = t('signUp.errors.takenHint', { signIn: '\n', reset: '\n' }).split('\n');
  return (
    <p className="small">
      {before}
      <a href={taken.signInHref}>{t('signUp.errors.takenSignIn')}</a>
      {between}
      <a href={taken.resetHref}>{t('signUp.errors.takenReset')}</a>
      {after}
    </p>
  );
}

/** The form of the user's own data. */
function ProfileForm(props: ProfilePageProps) {
  const { ctx, action, controls, values, lockedEmail, hidden, errors, taken } = props;
  const { t } = ctx;
  const focus = firstField(props);
  return (
    <form className="form" id="sign-up" method="post" action={action} noValidate>
      <HiddenFields fields={hidden} />
      <FormErrors
        ctx={ctx}
        controls={controls}
        errors={errors}
        labels={{
          givenName: t('signUp.givenName'),
          familyName: t('signUp.familyName'),
          email: t('signUp.email'),
          password: t('signUp.password'),
        }}
      />
      <Names {...props} focus={focus} />
      <Field
        {...controls.email}
        label={t('signUp.email')}
        error={errors.email}
        hint={lockedEmail ? t('signUp.emailLocked') : undefined}
        defaultValue={values.email}
        readOnly={lockedEmail}
        autoFocus={focus === 'email'}
      />
      {taken !== undefined && <TakenHint ctx={ctx} taken={taken} />}
      <NewPassword
        ctx={ctx}
        name={controls.password.name}
        label={t('signUp.password')}
        error={errors.password}
        fields={{
          email: controls.email.name,
          givenName: controls.givenName.name,
          familyName: controls.familyName.name,
        }}
        autoFocus={focus === 'password'}
      />
      <TermsNotice ctx={ctx} />
      <Button block>{t('signUp.next')}</Button>
    </form>
  );
}

/** Step 0 of a sign-up, 'Get Started' (specification, section 2): the state `profile`. */
export function ProfilePage(props: ProfilePageProps) {
  const { ctx, action, signInHref, problem, resumableSignUp, providerNotice, clientName, providerButtons } = props;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signUp" long>
      <Script ctx={ctx} entry="busy" />
      <SignUpSteps ctx={ctx} current={0} />
      <div className="panel-head">
        <h1>{t('signUp.heading')}</h1>
        {clientName === undefined ? (
          // The steps above say the same: without it Next is in view on a low phone.
          <p className="muted when-tall">{t('signUp.lead')}</p>
        ) : (
          <p className="muted">{t('signUp.continueTo', { clientName })}</p>
        )}
      </div>
      <PageNotice ctx={ctx} notice={problem && { kind: 'error', ...problem }} />
      <PageNotice ctx={ctx} notice={providerNotice} />
      {resumableSignUp !== undefined && (
        <Notice kind="info">
          {t('signUp.begun', { email: resumableSignUp.email })}{' '}
          <a href={resumableSignUp.href}>{t('signUp.enterCode')}</a>
        </Notice>
      )}
      {providerButtons !== undefined && (
        <>
          {/* Separate: no input is sent to a provider. */}
          <form id="provider-buttons" method="post" hidden>
            <HiddenFields fields={{ at: 'sign-up' }} />
          </form>
          <PrimaryProviderButtons ctx={ctx} buttons={providerButtons} form="provider-buttons" />
        </>
      )}
      <ProfileForm {...props} />
      {providerButtons !== undefined && (
        <MoreProviderButtons ctx={ctx} buttons={providerButtons} form="provider-buttons" />
      )}
      <div className="panel-ways">
        {resumableSignUp !== undefined && (
          <form method="post" action={action}>
            <Button kind="link" name="act" value="start-over">
              {t('signUp.startOver')}
            </Button>
          </form>
        )}
        <p className="muted">
          {t('signUp.haveAccount')} <a href={signInHref}>{t('signUp.login')}</a>
        </p>
      </div>
    </AuthLayout>
  );
}

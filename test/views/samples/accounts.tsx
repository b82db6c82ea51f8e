import { createBanner } from '../../../sandbox/views/banner.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { CodeSentPage, ForgotPasswordPage, ResetStartPage } from '../../../views/password/code-request-page.tsx';
import { ResetPasswordPage } from '../../../views/password/reset-password-page.tsx';
import { AccessibilityPage } from '../../../views/sign-in/accessibility-page.tsx';
import { ImprintPage } from '../../../views/sign-in/imprint-page.tsx';
import { ReAuthenticatePage } from '../../../views/sign-in/reauthenticate-page.tsx';
import { SignInPage } from '../../../views/sign-in/sign-in-page.tsx';
import { TermsPage } from '../../../views/sign-in/terms-page.tsx';
import { CodePage } from '../../../views/sign-up/code-page.tsx';
import { ConfirmedPage } from '../../../views/sign-up/confirmed-page.tsx';
import { ProfilePage } from '../../../views/sign-up/profile-page.tsx';
import { legal, member, type Sample } from './context.ts';
import { sampleControls, sampleDoors } from './controls.ts';

/** The pages of signing in, signing up, passwords and terms, in every state that looks different. */
export function accountSamples(ctx: PageContext): Record<string, Sample> {
  const { t } = ctx;
  const signedIn: PageContext = { member, ...ctx };
  const sandbox: PageContext = {
    ...ctx,
    banner: createBanner({ places: { mailbox: '/sandbox/mailbox' }, overview: '/sandbox' })(ctx),
  };
  const { member: _, ...visitor } = ctx;
  const clientName = 'Showcase pages';
  const passkey = {
    action: '/sign-in/passkey',
    options: { challenge: 'AAAA', rpId: 'localhost', userVerification: 'required' },
    label: t('passkeys.signIn.button'),
  };
  const { door, noDoors, allDoors, fewDoors } = sampleDoors(t, clientName);
  const signIn = {
    ctx,
    action: '/sign-in',
    controls: sampleControls.signIn,
    values: { username: '', remember: false },
    errors: {},
    passkey,
    providerButtons: noDoors,
  };
  const again = {
    ctx,
    action: '/re-authenticate',
    controls: sampleControls.reauthenticate,
    email: 'vera@example.com',
    hasPassword: true,
    providerButtons: [
      { ...door('google', 'Google'), label: t('signIn.reauthenticate.confirmWith', { provider: 'Google' }) },
    ],
  };
  const values = { provider: 'Google' };
  const profile = {
    ctx,
    action: '/signup',
    controls: sampleControls.signUp,
    signInHref: '/',
    values: { givenName: '', familyName: '', email: '' },
    hidden: { terms: '1' },
    errors: {},
  };
  const code = {
    ctx,
    action: '/signup/emailCaptured',
    signInHref: '/',
    email: 'vera@example.com',
    backHref: '/signup',
    steps: true,
    waitSeconds: 27,
  };
  const request = {
    ctx,
    action: '/forgot-password',
    controls: sampleControls.forgotPassword,
    signInHref: '/',
    username: 'vera@example.com',
  };
  const reset = {
    ctx,
    action: '/reset-password?username=vera%40example.com',
    controls: sampleControls.resetPassword,
    otherHref: '/forgot-password',
    username: 'vera@example.com',
    sent: t('password.reset.sentTo', { email: 'vera@example.com', minutes: 10 }),
    proven: false,
    errors: {},
    waitSeconds: 27,
  };
  return {
    'sign-in': { page: <SignInPage {...signIn} /> },
    'sign-in-without-passkeys': { page: <SignInPage {...signIn} passkey={undefined} /> },
    'sign-in-bare': { page: <SignInPage {...signIn} ctx={{ ...visitor, links: {} }} clientName={clientName} /> },
    'sign-in-errors': {
      page: (
        <SignInPage
          {...signIn}
          clientName={clientName}
          values={{ username: 'vera@example.com', remember: true }}
          errors={{ username: t('signIn.errors.usernameEmpty'), password: t('signIn.errors.passwordEmpty') }}
        />
      ),
    },
    'sign-in-refused': {
      page: (
        <SignInPage
          {...signIn}
          ctx={sandbox}
          values={{ username: 'vera@example.com', remember: true }}
          errors={{ form: t('signIn.errors.incorrect') }}
        />
      ),
    },
    'sign-in-doors': { page: <SignInPage {...signIn} providerButtons={allDoors} /> },
    'sign-in-doors-cancelled': {
      page: (
        <SignInPage
          {...signIn}
          providerButtons={fewDoors}
          providerNotice={{ kind: 'info', text: t('federation.notices.cancelled', values) }}
        />
      ),
    },
    'sign-in-doors-refused': {
      page: (
        <SignInPage
          {...signIn}
          providerButtons={allDoors}
          providerNotice={{ kind: 'error', text: t('federation.notices.sign-up-closed', values) }}
        />
      ),
    },
    're-authenticate-doors': { page: <ReAuthenticatePage {...again} passkey={passkey} /> },
    're-authenticate-without-password': {
      page: (
        <ReAuthenticatePage
          {...again}
          hasPassword={false}
          providerNotice={{ kind: 'error', text: t('federation.notices.not-yours', values) }}
        />
      ),
    },
    'sign-up': { page: <ProfilePage {...profile} /> },
    'sign-up-doors': { page: <ProfilePage {...profile} providerButtons={allDoors} /> },
    'sign-up-refused': {
      page: (
        <ProfilePage
          {...profile}
          clientName={clientName}
          values={{ givenName: '', familyName: 'Fyfe', email: 'vera@' }}
          errors={{
            givenName: t('signUp.errors.empty'),
            email: t('signUp.errors.email'),
            password: t('password.faults.tooShort'),
          }}
          problem={{ title: t('signUp.errors.failed'), text: t('signUp.errors.tooManyMinutes', { minutes: 12 }) }}
        />
      ),
    },
    'sign-up-begun': {
      page: (
        <ProfilePage
          {...profile}
          values={{ givenName: 'Vera', familyName: 'Fyfe', email: 'vera@example.com' }}
          resumableSignUp={{ email: 'vera@example.com', href: '/signup/emailCaptured' }}
        />
      ),
    },
    'sign-up-partner': {
      page: <ProfilePage {...profile} values={{ ...profile.values, email: 'vera@example.com' }} lockedEmail />,
    },
    'sign-up-code': { page: <CodePage {...code} /> },
    'sign-up-code-refused': {
      page: (
        <CodePage
          {...code}
          code="123456"
          error={t('codes.wrong')}
          notice={{ kind: 'error', text: t('codes.expired'), duration: 'never' }}
          waitSeconds={0}
        />
      ),
    },
    'sign-up-code-resent': {
      page: <CodePage {...code} notice={{ kind: 'success', text: t('signUp.code.resent'), duration: 'short' }} />,
    },
    'verify-code': {
      page: (
        <CodePage
          {...code}
          action="/verify-code"
          backHref={undefined}
          steps={false}
          unsent
          waitSeconds={0}
          notice={{
            kind: 'error',
            title: t('signUp.code.failed'),
            text: t('signUp.errors.tooManyHours', { hours: 7 }),
            duration: 'never',
          }}
        />
      ),
    },
    'sign-up-confirmed': { page: <ConfirmedPage ctx={ctx} href="/verify-user?authorization_code=x8Zr3" /> },
    'forgot-password': { page: <ForgotPasswordPage {...request} /> },
    'forgot-password-empty': {
      page: <ForgotPasswordPage {...request} username="" error={t('password.request.empty')} />,
    },
    'forgot-password-refused': {
      page: (
        <ForgotPasswordPage
          {...request}
          problem={{ title: t('password.request.failed'), text: t('password.request.tooManyCodes', { hours: 7 }) }}
        />
      ),
    },
    'forgot-password-sent': { page: <CodeSentPage ctx={ctx} href="/reset-password" /> },
    'reset-password': {
      page: <ResetPasswordPage {...reset} notice={{ text: t('password.request.confirmed'), duration: 'short' }} />,
    },
    'reset-password-refused': {
      page: (
        <ResetPasswordPage
          {...reset}
          code="123456"
          waitSeconds={0}
          errors={{
            code: t('codes.wrong'),
            password: t('password.faults.breached'),
            confirm: t('password.reset.inconsistent'),
          }}
          problem={{ title: t('password.reset.failed'), text: t('codes.wrong') }}
        />
      ),
    },
    'reset-password-moved': { page: <ResetPasswordPage {...reset} moved /> },
    'reset-password-proven': {
      page: <ResetPasswordPage {...reset} proven errors={{ password: t('password.faults.personal') }} />,
    },
    'reset-password-start': { page: <ResetStartPage {...request} /> },
    'reset-password-over': {
      page: <ResetStartPage {...request} problem={{ title: t('password.reset.failed'), text: t('codes.expired') }} />,
    },
    'sign-in-after-reset': { page: <SignInPage {...signIn} done={t('password.reset.done')} /> },
    terms: {
      page: (
        <TermsPage ctx={ctx} document={legal.terms(ctx.lang)} mode="read" version={{ number: 1, label: '1.0.0' }} />
      ),
    },
    imprint: { page: <ImprintPage ctx={ctx} document={legal.imprint(ctx.lang)} /> },
    accessibility: { page: <AccessibilityPage ctx={ctx} document={legal.accessibility(ctx.lang)} /> },
    'terms-accept': {
      page: (
        <TermsPage
          ctx={signedIn}
          document={legal.terms(ctx.lang)}
          mode="accept"
          redirect="/settings"
          version={{ number: 1, label: '1.0.0' }}
        />
      ),
    },
    'terms-declined': {
      page: (
        <TermsPage
          ctx={signedIn}
          document={legal.terms(ctx.lang)}
          mode="accept"
          version={{ number: 1, label: '1.0.0' }}
          notice={{ kind: 'error', text: t('terms.TERMS_OF_SERVICE_MESSAGE_DECLINE') }}
        />
      ),
    },
  };
}

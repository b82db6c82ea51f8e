import type { ReactElement } from 'react';
import { type Language, translator } from '../../server/http/language.ts';
import { loadLegal, shippedLegalDir } from '../../server/legal/index.ts';
import { UndoDonePage, UndoEmailChangePage, UndoGonePage } from '../../views/contact/undo-email-change-page.tsx';
import { ErrorPage } from '../../views/errors/error-page.tsx';
import { errorKinds, errorTexts } from '../../views/errors/error-texts.ts';
import { NotFoundPage } from '../../views/errors/not-found-page.tsx';
import {
  CancelFactorResetPage,
  FactorResetCancelledPage,
  FactorResetGonePage,
} from '../../views/leaving/cancel-factor-reset-page.tsx';
import { DeletionAskedPage } from '../../views/leaving/deletion-asked-page.tsx';
import { ImprintPage } from '../../views/legal/imprint-page.tsx';
import { ConsentPage } from '../../views/oauth/consent-page.tsx';
import { GoingOnPage } from '../../views/oauth/going-on-page.tsx';
import { scopeTexts } from '../../views/oauth/scope-texts.ts';
import { SignedOutPage, SignOutPage } from '../../views/oauth/sign-out-page.tsx';
import { VerifyUserPage } from '../../views/oauth/verify-user-page.tsx';
import type { LinkName, PageContext, PageHead } from '../../views/page-context.ts';
import { ForgotPasswordPage } from '../../views/password/forgot-password-page.tsx';
import { ResetPasskeysPage } from '../../views/password/reset-passkeys-page.tsx';
import { ResetPasswordPage } from '../../views/password/reset-password-page.tsx';
import { ResetStartPage } from '../../views/password/reset-start-page.tsx';
import { DemoAppPage } from '../../views/sandbox/demo-app-page.tsx';
import { MailboxPage } from '../../views/sandbox/mailbox-page.tsx';
import { MailsPage } from '../../views/sandbox/mails-page.tsx';
import { MessagePage } from '../../views/sandbox/message-page.tsx';
import { PartsPage } from '../../views/sandbox/parts-page.tsx';
import { StandInAppPage } from '../../views/sandbox/stand-in-app-page.tsx';
import { ContactCodePage, EmailPage, PhonePage } from '../../views/settings/contact-pages.tsx';
import { DeviceActPage } from '../../views/settings/device-act-page.tsx';
import { DataPage, DeleteAccountPage, FactorResetPage } from '../../views/settings/leaving-pages.tsx';
import { NamePage } from '../../views/settings/name-page.tsx';
import { PasskeyAddPage, PasskeyRemovePage, PasskeyRenamePage } from '../../views/settings/passkey-act-pages.tsx';
import { PasskeysPage } from '../../views/settings/passkeys-page.tsx';
import { PasswordPage } from '../../views/settings/password-page.tsx';
import { SettingsHome } from '../../views/settings/settings-home.tsx';
import { UserDataPage } from '../../views/settings/user-data-page.tsx';
import { SignInPage } from '../../views/sign-in/sign-in-page.tsx';
import { TermsPage } from '../../views/sign-in/terms-page.tsx';
import { CodePage } from '../../views/sign-up/code-page.tsx';
import { ConfirmedPage } from '../../views/sign-up/confirmed-page.tsx';
import { ProfilePage } from '../../views/sign-up/profile-page.tsx';
import { mfaSettingsSamples } from './mfa-settings-samples.tsx';

const legal = loadLegal(shippedLegalDir, { brand: 'Foyer', publicUrl: 'https://login.example.com' });

export const member = { name: 'Vera Fyfe', email: 'vera@example.com', initials: 'VF' };

const apps = [
  'search',
  'dashboard',
  'showcasePages',
  'shortlist',
  'profile',
  'wallet',
  'teams',
  'membership',
  'paymentMethods',
] as const satisfies readonly LinkName[];

/** A context with everything that pages can show. */
export function contextFor(lang: Language, over: Partial<PageContext> = {}): PageContext {
  return {
    lang,
    t: translator(lang),
    nonce: 'bm9uY2U',
    brand: { name: 'Foyer' },
    assets: {
      css: '/assets/foyer.css',
      fonts: ['/assets/figtree.woff2'],
      icon: '/assets/icon.svg',
      script: (entry) => `/assets/${entry}.js`,
    },
    links: {
      ...Object.fromEntries(apps.map((name) => [name, `https://apps.example/${name}`])),
      signIn: '/',
      security: '/settings',
      help: 'https://help.example/',
      privacy: 'https://example.com/privacy',
      terms: '/tos',
      signUp: '/signup',
      forgotPassword: '/forgot-password',
    },
    languageForm: { action: '/language', redirect: '/?client_id=web' },
    ...over,
  };
}

export interface Sample {
  page: ReactElement;
  head?: Partial<PageHead>;
  /** It shows documents of ours in frames. */
  frames?: boolean;
}

const sub = '0198a2c4-7b1e-7c3a-9f52-6d1f0e8b4a77';

/** Every page in every state that looks different, by name. */
export function everyPage(ctx: PageContext): Record<string, Sample> {
  const { t } = ctx;
  const signedIn: PageContext = { member, ...ctx };
  const sandbox: PageContext = { ...ctx, sandbox: { mailbox: '/sandbox/mailbox' } };
  const { member: _, ...visitor } = ctx;
  const clientName = 'Showcase Pages';
  const mailbox = { ctx: sandbox, address: '/a', templatesHref: '/b' };
  const message = {
    id: 'a',
    channel: 'mail',
    to: member.email,
    from: 'Foyer <no-reply@example.com>',
    subject: 'Your code',
    code: '493027',
    text: 'Hello,\n\n493027',
    atMs: 1767225600000,
  } as const;
  const fields = { authorization_code: 'x8Zr3', state: 'a"b<c' };
  const errors = Object.fromEntries(
    errorKinds.map((kind) => [
      `error-${kind}`,
      {
        page: (
          <ErrorPage
            ctx={ctx}
            status={500}
            reference="4F09A1C27B"
            action={{ href: '/', label: t('errors.home') }}
            {...errorTexts(t, kind, { retryAfterSeconds: 600 })}
          />
        ),
      },
    ]),
  );
  const passkey = {
    action: '/sign-in/passkey',
    options: { challenge: 'AAAA', rpId: 'localhost', userVerification: 'required' },
    label: t('passkeys.signIn.button'),
  };
  const signIn = { ctx, action: '/sign-in', values: { username: '', remember: false }, errors: {}, passkey };
  const passkeys = [
    { id: 'a', name: 'Red <laptop>', backedUp: true, createdAt: 1767225600000, lastUsedAt: 1767225600000 },
    { id: 'b', name: 'Key', backedUp: false, createdAt: 1767225600000, lastUsedAt: null },
  ];
  const passkeyAct = { ctx: signedIn, action: '/settings/passkeys/add', name: 'Red <laptop>' };
  const profile = {
    ctx,
    action: '/signup',
    signInHref: '/',
    values: { given_name: '', family_name: '', email: '' },
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
  const request = { ctx, action: '/forgot-password', signInHref: '/', username: 'vera@example.com' };
  const reset = {
    ctx,
    action: '/reset-password?username=vera%40example.com',
    otherHref: '/forgot-password',
    username: 'vera@example.com',
    sent: t('password.reset.sentTo', { email: 'vera@example.com', minutes: 10 }),
    proven: false,
    errors: {},
    waitSeconds: 27,
  };
  const settings = {
    ctx: signedIn,
    avatar: member,
    user: {
      ...{ givenName: 'Vera', familyName: 'Fyfe', email: member.email, emailVerified: true },
      ...{
        phone: '+31 6 12345642',
        phoneVerified: false,
        mfaPreference: 'totp' as const,
        acceptedTosVersion: 1,
        acceptedTosAt: 1767225600000,
      },
      ...{ birthdate: '1984-02-29', gender: '1', address: 'Oudegracht 245\nUtrecht', companyName: 'Fyfe & Co' },
      ...{ jobTitle: null, newsletter: true, locale: 'fr', createdAt: 1767225600000 },
    },
    terms: { number: 1, label: '1.0.0' },
    top: [],
    more: {},
  } as const;
  const userData = {
    ctx: signedIn,
    action: '/settings/profile',
    values: {
      ...{ birthdate: '', gender: '0', address: '', companyName: '', jobTitle: '' },
      ...{ newsletter: 'false', locale: '' },
    },
    errors: {},
  };
  const changePassword = {
    ctx: signedIn,
    action: '/settings/password',
    member: { email: member.email, givenName: 'Vera', familyName: 'Fyfe' },
    errors: {},
  };
  const scopes = scopeTexts(t, ['openid', 'profile', 'email', 'phone', 'offline_access', 'account', 'wallet']);
  return {
    'sign-in': { page: <SignInPage {...signIn} /> },
    'sign-in-without-passkeys': { page: <SignInPage {...signIn} passkey={undefined} /> },
    passkeys: {
      page: (
        <PasskeysPage ctx={signedIn} passkeys={passkeys} most={20} available notice={t('passkeys.notices.added')} />
      ),
    },
    'passkeys-full': { page: <PasskeysPage ctx={signedIn} passkeys={passkeys} most={2} available /> },
    'passkeys-none': { page: <PasskeysPage ctx={signedIn} passkeys={[]} most={20} available={false} /> },
    'passkey-add': { page: <PasskeyAddPage {...passkeyAct} options={passkey.options} /> },
    'passkey-add-refused': {
      page: <PasskeyAddPage {...passkeyAct} options={passkey.options} problem={t('passkeys.errors.expired')} />,
    },
    'passkey-rename': { page: <PasskeyRenamePage {...passkeyAct} error={t('passkeys.errors.nameEmpty')} /> },
    'device-sign-out': {
      page: <DeviceActPage ctx={signedIn} action="/settings/devices/sign-out" act="ending" name="Safari on iOS" />,
    },
    'passkey-remove': { page: <PasskeyRemovePage {...passkeyAct} /> },
    'reset-passkeys': {
      page: <ResetPasskeysPage ctx={ctx} action="/reset-password/passkeys" signInHref="/" passkeys={passkeys} />,
    },
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
    settings: { page: <SettingsHome {...settings} tab="sign-in" /> },
    'settings-user-data': {
      page: (
        <SettingsHome
          {...settings}
          tab="user-data"
          notice={t('settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS')}
          user={{ ...settings.user, phone: null, birthdate: null, gender: '9', acceptedTosVersion: null }}
        />
      ),
    },
    'settings-name': {
      page: (
        <NamePage
          ctx={signedIn}
          action="/settings/name"
          values={{ givenName: '', familyName: 'Fyfe' }}
          errors={{ givenName: t('settings.errors.empty') }}
          problem={{ title: t('settings.TAB_USER_DATA_MESSAGE_EROR'), text: t('settings.away') }}
        />
      ),
    },
    'settings-profile': { page: <UserDataPage {...userData} /> },
    'settings-profile-refused': {
      page: <UserDataPage {...userData} errors={{ birthdate: t('settings.errors.birthdate') }} />,
    },
    'settings-password': { page: <PasswordPage {...changePassword} /> },
    'settings-password-refused': {
      page: (
        <PasswordPage
          {...changePassword}
          passing={t('password.change.CHANGE_PASSWORD_MESSAGE_EROR')}
          errors={{ oldPassword: t('settings.password.oldEmpty'), newPassword: t('settings.password.newEmpty') }}
        />
      ),
    },
    ...mfaSettingsSamples(signedIn),
    'settings-email-refused': {
      page: (
        <EmailPage
          ctx={signedIn}
          action="/settings/email"
          value="vera@"
          error={t('signUp.errors.email')}
          problem={{ text: t('settings.TAB_USER_DATA_MESSAGE_EROR'), passing: true }}
        />
      ),
    },
    'settings-phone': {
      page: <PhonePage ctx={signedIn} action="/settings/phone" value="+4915112345678" removable="yes" offered />,
    },
    'settings-phone-in-use': {
      page: <PhonePage ctx={signedIn} action="/settings/phone" value="" removable="in-use" offered={false} />,
    },
    'settings-code': {
      page: (
        <ContactCodePage
          ctx={signedIn}
          id="verify-email"
          action="/settings/email/code"
          otherHref="/settings/email"
          sent={t('contact.email.sentTo', { to: 'vera@example.net', minutes: 10 })}
          error={t('password.reset.codeWrong')}
          problem={{ title: t('contact.code.failed'), text: t('contact.email.taken') }}
          resent
          waitSeconds={12}
        />
      ),
    },
    'undo-email-change': {
      page: (
        <UndoEmailChangePage
          ctx={ctx}
          action="/undo-email-change"
          token="019aa77c-8b50-7e2e-b1f5-0a5d3c1f9e77.secret"
          email="vera@example.com"
          changedAtMs={1_790_000_000_000}
          errors={{ password: t('password.faults.tooShort') }}
          problem={t('signIn.errors.busy')}
          met={{ numberOrSymbol: true, length: false, notPersonal: true }}
        />
      ),
    },
    'settings-data': { page: <DataPage ctx={signedIn} action="/settings/data" /> },
    'settings-delete-account': {
      page: (
        <DeleteAccountPage
          ctx={signedIn}
          action="/settings/delete-account"
          days={14}
          error={t('leaving.deletion.confirmMissing')}
        />
      ),
    },
    'settings-factor-reset': {
      page: (
        <FactorResetPage
          ctx={signedIn}
          action="/settings/factor-reset"
          requestedAtMs={1_790_000_000_000}
          dueAtMs={1_790_259_200_000}
        />
      ),
    },
    'deletion-asked': { page: <DeletionAskedPage ctx={ctx} days={14} /> },
    'cancel-factor-reset': {
      page: (
        <CancelFactorResetPage
          ctx={ctx}
          action="/cancel-factor-reset"
          token="019aa77c-8b50-7e2e-b1f5-0a5d3c1f9e77.secret"
          requestedAtMs={1_790_000_000_000}
          dueAtMs={1_790_259_200_000}
        />
      ),
    },
    'cancel-factor-reset-done': { page: <FactorResetCancelledPage ctx={ctx} /> },
    'cancel-factor-reset-gone': { page: <FactorResetGonePage ctx={ctx} /> },
    'undo-email-change-done': { page: <UndoDonePage ctx={ctx} /> },
    'undo-email-change-gone': { page: <UndoGonePage ctx={ctx} /> },
    'sign-up': { page: <ProfilePage {...profile} /> },
    'sign-up-refused': {
      page: (
        <ProfilePage
          {...profile}
          clientName={clientName}
          values={{ given_name: '', family_name: 'Fyfe', email: 'vera@' }}
          errors={{
            given_name: t('signUp.errors.empty'),
            email: t('signUp.errors.email'),
            password: t('password.faults.tooShort'),
          }}
          met={{ numberOrSymbol: true, length: false, notPersonal: true }}
          problem={{ title: t('signUp.errors.failed'), text: t('signUp.errors.tooManyMinutes', { minutes: 12 }) }}
        />
      ),
    },
    'sign-up-begun': {
      page: (
        <ProfilePage
          {...profile}
          values={{ given_name: 'Vera', family_name: 'Fyfe', email: 'vera@example.com' }}
          begun={{ email: 'vera@example.com', href: '/signup/emailCaptured' }}
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
          error={t('signUp.errors.code')}
          notice={{ kind: 'error', text: t('signUp.errors.void'), duration: 'never' }}
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
    'reset-password': {
      page: (
        <ResetPasswordPage
          {...reset}
          news={{
            title: t('password.request.confirmedTitle'),
            text: t('password.request.confirmed'),
            duration: 'redirecting',
          }}
        />
      ),
    },
    'reset-password-refused': {
      page: (
        <ResetPasswordPage
          {...reset}
          code="123456"
          waitSeconds={0}
          errors={{
            code: t('password.reset.codeWrong'),
            password: t('password.faults.breached'),
            confirm: t('password.reset.inconsistent'),
          }}
          problem={{ title: t('password.reset.failed'), text: t('password.reset.codeWrong') }}
          met={{ numberOrSymbol: true, length: true, notPersonal: true }}
        />
      ),
    },
    'reset-password-proven': {
      page: <ResetPasswordPage {...reset} proven errors={{ password: t('password.faults.personal') }} />,
    },
    'reset-password-start': { page: <ResetStartPage {...request} /> },
    'reset-password-over': {
      page: (
        <ResetStartPage
          {...request}
          problem={{ title: t('password.reset.failed'), text: t('password.reset.codeGone') }}
        />
      ),
    },
    'sign-in-after-reset': { page: <SignInPage {...signIn} done={t('password.reset.done')} /> },
    terms: {
      page: (
        <TermsPage ctx={ctx} document={legal.terms(ctx.lang)} mode="read" version={{ number: 1, label: '1.0.0' }} />
      ),
    },
    imprint: { page: <ImprintPage ctx={ctx} document={legal.imprint(ctx.lang)} /> },
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
    'verify-user': {
      page: <VerifyUserPage ctx={ctx} action="/storage" fields={fields} clientName={clientName} />,
    },
    'going-on': {
      page: <GoingOnPage ctx={ctx} href="https://client.example/cb?code=a&state=b" clientName={clientName} />,
    },
    'going-on-plain': { page: <GoingOnPage ctx={ctx} href="com.example.app:/cb" /> },
    consent: {
      page: (
        <ConsentPage
          ctx={ctx}
          action="/consent"
          fields={fields}
          clientName="Ledger & Sons"
          clientHost="ledger.example"
          reason="third-party"
          scopes={scopes.slice(0, 4)}
          memberEmail={member.email}
        />
      ),
    },
    'consent-native': {
      page: (
        <ConsentPage
          ctx={ctx}
          action="/consent"
          fields={fields}
          clientName="Pocket"
          clientLogo="https://pocket.example/logo.png"
          clientHost="com.example.pocket"
          reason="native"
          scopes={scopes}
          memberEmail={member.email}
        />
      ),
    },
    'consent-asked': {
      page: (
        <ConsentPage
          ctx={ctx}
          action="/consent"
          fields={fields}
          clientName={clientName}
          clientHost="pages.example"
          reason="asked"
          scopes={scopes.slice(0, 1)}
          memberEmail={member.email}
        />
      ),
    },
    'sign-out': {
      page: (
        <SignOutPage ctx={ctx} action="/logout" fields={fields} memberEmail={member.email} clientName={clientName} />
      ),
    },
    'sign-out-plain': { page: <SignOutPage ctx={ctx} action="/logout" fields={{}} /> },
    'signed-out': { page: <SignedOutPage ctx={ctx} signInHref="/" /> },
    'not-found': { page: <NotFoundPage ctx={ctx} variant="fetch" homeHref="/" /> },
    'not-found-oops': { page: <NotFoundPage ctx={signedIn} variant="oops" homeHref="/" /> },
    ...errors,
    'stand-in-search': { page: <StandInAppPage ctx={signedIn} app="search" /> },
    'stand-in-search-visitor': { page: <StandInAppPage ctx={sandbox} app="search" /> },
    'stand-in-main': { page: <StandInAppPage ctx={signedIn} app="main" /> },
    'stand-in-account': { page: <StandInAppPage ctx={signedIn} app="account" /> },
    parts: { page: <PartsPage ctx={signedIn} /> },
    mailbox: { page: <MailboxPage {...mailbox} messages={[message, { ...message, id: 'b', subject: undefined }]} /> },
    'mailbox-empty': { page: <MailboxPage {...mailbox} messages={[]} /> },
    'mailbox-filtered': { page: <MailboxPage {...mailbox} messages={[]} to="nobody@example.com" /> },
    message: {
      page: <MessagePage ctx={sandbox} message={message} htmlAddress="/a/html" mailboxHref="/a" />,
      frames: true,
    },
    'message-sms': {
      page: <MessagePage ctx={sandbox} message={{ ...message, channel: 'sms', subject: undefined }} mailboxHref="/a" />,
    },
    mails: {
      frames: true,
      page: (
        <MailsPage
          ctx={sandbox}
          mailLang="fr"
          mails={[{ template: 'welcome', subject: 'Bienvenue', text: 'Bonjour', htmlAddress: '/b/welcome' }]}
          address="/b"
          mailboxHref="/a"
        />
      ),
    },
    demo: { page: <DemoAppPage ctx={ctx} state={{ kind: 'signed-out', signInHref: '/start' }} /> },
    'demo-error': {
      page: <DemoAppPage ctx={ctx} state={{ kind: 'signed-out', signInHref: '/start', error: 'access_denied' }} />,
    },
    'demo-signed-in': {
      page: (
        <DemoAppPage
          ctx={ctx}
          state={{
            kind: 'signed-in',
            idToken: {
              iss: 'http://localhost:3000',
              sub,
              aud: 'demo',
              exp: 1767225600,
              nonce: 'n-0S6_WzA2Mj',
              amr: ['pwd'],
            },
            userinfo: { sub, email: member.email, email_verified: true, name: member.name },
            accessToken: { maskedValue: 'fat_8sK…c2Qp', expiresAt: 1767225600000 },
            refreshToken: { maskedValue: 'frt_Zm4…0aXe' },
            refreshAction: '/refresh',
            signOutAction: '/sign-out',
          }}
        />
      ),
    },
    'demo-signed-in-plain': {
      page: (
        <DemoAppPage
          ctx={ctx}
          state={{
            kind: 'signed-in',
            idToken: { sub },
            userinfo: { sub },
            accessToken: { maskedValue: 'fat_8sK…c2Qp', expiresAt: 1767225600000 },
            refreshAction: '/refresh',
            signOutAction: '/sign-out',
          }}
        />
      ),
    },
  };
}

/** One of them, rendered by the caller. */
export function samplePage(ctx: PageContext, name: string): ReactElement {
  const sample = everyPage(ctx)[name];
  if (sample === undefined) throw new Error(`There is no page ${name}`);
  return sample.page;
}

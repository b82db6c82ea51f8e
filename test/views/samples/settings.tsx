import { changeEmailAction, changePhoneAction } from '../../../server/account/contact/contact-actions.ts';
import { toControls } from '../../../server/http/index.ts';
import { mapUserData, nameForm, userDataForm } from '../../../server/users/index.ts';
import { SettingsHome } from '../../../views/account/account-home.tsx';
import {
  CancelByLinkPage,
  CancelByMailPage,
  CancelLinkMessagePage,
} from '../../../views/account/cancel-by-mail-pages.tsx';
import {
  CancelFactorResetPage,
  FactorResetCancelledPage,
  FactorResetExpiredPage,
} from '../../../views/account/cancel-factor-reset-page.tsx';
import { ContactCodePage, EmailPage, PhonePage } from '../../../views/account/contact-pages.tsx';
import { DataPage, DeleteAccountPage, FactorResetPage } from '../../../views/account/deletion-pages.tsx';
import { DeletionRequestedPage } from '../../../views/account/deletion-requested-page.tsx';
import { DeviceActPage } from '../../../views/account/device-action-page.tsx';
import { NamePage } from '../../../views/account/name-page.tsx';
import { PasskeyAddPage, PasskeyRemovePage, PasskeyRenamePage } from '../../../views/account/passkey-pages.tsx';
import { PasskeysPage } from '../../../views/account/passkeys-page.tsx';
import { PasswordPage } from '../../../views/account/password-page.tsx';
import { UndoDonePage, UndoEmailChangePage, UndoExpiredPage } from '../../../views/account/undo-email-change-page.tsx';
import { UserDataPage } from '../../../views/account/user-data-page.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { RecentFactorsPage } from '../../../views/password/recent-factors-page.tsx';
import { member, type Sample } from './context.ts';
import { membershipSamples } from './membership.tsx';
import { mfaSettingsSamples } from './mfa-settings.tsx';
import { providerSamples } from './providers.tsx';

/** Pages on which members look after their account, and those that belong to them. */
const end = { endsAt: 1767225600000, amount: '$673.77', toAccount: false, credit: '$20.00', fields: { endsAt: '1' } };

export function settingsSamples(ctx: PageContext): Record<string, Sample> {
  const { t } = ctx;
  const signedIn: PageContext = { member, ...ctx };
  const passkey = {
    action: '/sign-in/passkey',
    options: { challenge: 'AAAA', rpId: 'localhost', userVerification: 'required' },
    label: t('passkeys.signIn.button'),
  };
  const passkeys = [
    { id: 'a', name: 'Red <laptop>', backedUp: true, createdAt: 1767225600000, lastUsedAt: 1767225600000 },
    { id: 'b', name: 'Key', backedUp: false, createdAt: 1767225600000, lastUsedAt: null },
  ];
  const passkeyAct = { ctx: signedIn, action: '/settings/passkeys/add', name: 'Red <laptop>' };
  const settings = {
    ctx: signedIn,
    avatar: member,
    user: {
      givenName: 'Vera',
      familyName: 'Fyfe',
      userData: {
        ...mapUserData(() => null),
        birthdate: '1984-02-29',
        gender: '1',
        address: 'Oudegracht 245\nUtrecht',
        companyName: 'Fyfe & Co',
        newsletter: true,
        locale: 'fr',
      },
      createdAt: 1767225600000,
    },
    top: [],
    more: [],
  } as const;
  const userData = {
    ctx: signedIn,
    action: '/settings/profile',
    controls: toControls(userDataForm),
    groups: mapUserData((name) => userDataForm[name].group),
    values: { ...mapUserData(() => ''), gender: '0', newsletter: 'false' },
    errors: {},
  };
  const changePhone = {
    ctx: signedIn,
    action: '/settings/phone',
    controls: toControls(changePhoneAction.form),
    errors: {},
  };
  const changePassword = {
    ctx: signedIn,
    action: '/settings/password',
    member: { email: member.email, givenName: 'Vera', familyName: 'Fyfe' },
    isFirst: false,
    errors: {},
  };
  return {
    passkeys: {
      page: <PasskeysPage ctx={signedIn} passkeys={passkeys} max={20} available notice={t('passkeys.notices.added')} />,
    },
    'passkeys-full': { page: <PasskeysPage ctx={signedIn} passkeys={passkeys} max={2} available /> },
    'passkeys-none': { page: <PasskeysPage ctx={signedIn} passkeys={[]} max={20} available={false} /> },
    'passkey-add': { page: <PasskeyAddPage {...passkeyAct} options={passkey.options} /> },
    'passkey-add-refused': {
      page: <PasskeyAddPage {...passkeyAct} options={passkey.options} problem={t('passkeys.errors.expired')} />,
    },
    'passkey-rename': { page: <PasskeyRenamePage {...passkeyAct} error={t('passkeys.errors.nameEmpty')} /> },
    'device-sign-out': {
      page: <DeviceActPage ctx={signedIn} action="/settings/devices/sign-out" act="ending" name="Safari on iOS" />,
    },
    'passkey-remove': { page: <PasskeyRemovePage {...passkeyAct} isLast={false} /> },
    'reset-passkeys': {
      page: (
        <RecentFactorsPage ctx={ctx} action="/reset-password/ways-in" signInHref="/" passkeys={passkeys} links={[]} />
      ),
    },
    settings: { page: <SettingsHome {...settings} tab="sign-in" /> },
    'settings-user-data': {
      page: (
        <SettingsHome
          {...settings}
          tab="user-data"
          notice={t('settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS')}
          user={{
            ...settings.user,
            userData: { ...settings.user.userData, birthdate: null, gender: '9' },
          }}
        />
      ),
    },
    'settings-name': {
      page: (
        <NamePage
          ctx={signedIn}
          action="/settings/name"
          controls={toControls(nameForm)}
          values={{ givenName: '', familyName: 'Fyfe' }}
          errors={{ givenName: t('settings.errors.empty') }}
          problem={{ title: t('settings.TAB_USER_DATA_MESSAGE_EROR'), text: t('settings.unavailable') }}
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
    ...membershipSamples(ctx),
    ...providerSamples(signedIn),
    ...mfaSettingsSamples(signedIn),
    'settings-email-refused': {
      page: (
        <EmailPage
          ctx={signedIn}
          action="/settings/email"
          controls={toControls(changeEmailAction.form)}
          values={{ email: 'vera@' }}
          errors={{ email: t('signUp.errors.email') }}
          problem={{ text: t('settings.TAB_USER_DATA_MESSAGE_EROR'), passing: true }}
        />
      ),
    },
    'settings-phone': {
      page: <PhonePage {...changePhone} values={{ phone: '+4915112345678' }} removable="yes" offered />,
    },
    'settings-phone-in-use': {
      page: <PhonePage {...changePhone} values={{ phone: '' }} removable="in-use" offered={false} />,
    },
    'settings-code': {
      page: (
        <ContactCodePage
          ctx={signedIn}
          id="verify-email"
          action="/settings/email/code"
          other={{ question: 'Wrong address?', href: '/settings/email' }}
          sent={t('contact.email.sentTo', { to: 'vera@example.net', minutes: 10 })}
          error={t('codes.wrong')}
          problem={{ title: t('contact.code.failed'), text: t('contact.email.alreadyInUse') }}
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
        />
      ),
    },
    'settings-data': { page: <DataPage ctx={signedIn} action="/settings/data" /> },
    'settings-delete-account-plan': {
      page: (
        <DeleteAccountPage
          ctx={signedIn}
          action="/settings/delete-account"
          days={14}
          membership={{ planName: 'Growth & <Co>', until: 1767225600000, unpaid: false }}
          timing="at-once"
        />
      ),
    },
    'settings-delete-account-on-notice': {
      page: (
        <DeleteAccountPage
          ctx={signedIn}
          action="/settings/delete-account"
          days={14}
          membership={{ planName: 'Growth & <Co>', until: 1767225600000, unpaid: false, end }}
          timing="period-end"
        />
      ),
    },
    'settings-delete-account-unpaid': {
      page: (
        <DeleteAccountPage
          ctx={signedIn}
          action="/settings/delete-account"
          days={1}
          membership={{ planName: undefined, until: null, unpaid: true }}
          timing="period-end"
        />
      ),
    },
    'settings-delete-account': {
      page: (
        <DeleteAccountPage
          ctx={signedIn}
          action="/settings/delete-account"
          days={14}
          timing="period-end"
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
    'deletion-asked': { page: <DeletionRequestedPage ctx={ctx} days={14} /> },
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
    'cancel-factor-reset-gone': { page: <FactorResetExpiredPage ctx={ctx} /> },
    'cancel-by-mail': {
      page: (
        <CancelByMailPage
          ctx={ctx}
          action="/cancel-membership"
          email="vera"
          error="Please enter a valid email address."
        />
      ),
    },
    'cancel-by-link': {
      page: (
        <CancelByLinkPage
          ctx={ctx}
          action="/cancel-membership/link"
          token={'x'.repeat(43)}
          plan="Growth, annual"
          until={1_790_259_200_000}
        />
      ),
    },
    'cancel-by-mail-sent': { page: <CancelLinkMessagePage ctx={ctx} message="sent" /> },
    'cancel-by-link-done': { page: <CancelLinkMessagePage ctx={ctx} message="done" /> },
    'cancel-by-link-gone': { page: <CancelLinkMessagePage ctx={ctx} message="expired" /> },
    'undo-email-change-done': { page: <UndoDonePage ctx={ctx} /> },
    'undo-email-change-gone': { page: <UndoExpiredPage ctx={ctx} /> },
  };
}

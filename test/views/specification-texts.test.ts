import { readFileSync } from 'node:fs';
import { languages, type T, translator } from '../../server/http/index.ts';
import { noticeDurationsMs } from '../../views/parts/notice-durations.ts';

type Key = Parameters<T>[0];

/**
 * The specification's texts (sections 2, 4, 5 and 8) for signing in and up, plans, codes, forgotten passwords, the settings and terms, with the
 * typing slips corrected that the design lists. The keys are typed: a text that goes away does not compile.
 */
const texts: [Key, string][] = [
  ['signIn.errors.usernameEmpty', 'Username cannot be empty'],
  ['signIn.errors.passwordEmpty', 'Password cannot be empty'],
  ['signIn.errors.validation', 'Validation error detected'],
  ['signIn.errors.userDoesNotExist', 'User does not exist.'],
  ['signIn.errors.disabled', 'User is disabled.'],
  ['signIn.passwordHint', 'Password (6 or more characters)'],
  ['mfa.challenge.sms', 'We have sent a code to your phone'],
  ['mfa.challenge.totp', 'Please type in the code displayed on your authenticator app from your device'],
  ['codes.wrong', 'Invalid code'],
  ['signUp.heading', 'Get started'],
  ['signUp.code.heading', 'Enter security code'],
  ['signUp.startOver', 'Start over'],
  ['signUp.back', 'Back'],
  ['signUp.cancel', 'Cancel'],
  ['signUp.login', 'Sign in'],
  ['common.steps.profile', 'PROFILE'],
  ['common.steps.security', 'SECURITY'],
  ['common.steps.plan', 'PLAN'],
  ['payment.heading', 'Payment method'],
  ['payment.form.name', 'Name on card'],
  ['payment.form.number', 'Card number'],
  ['payment.form.cvc', 'Security code'],
  ['payment.form.cvcHint', '3-4 digit number'],
  ['payment.form.expiry', 'Expiration date'],
  ['payment.form.zip', 'Zip/postal code'],
  ['payment.form.save', 'Save'],
  ['payment.errors.empty', 'Cannot be empty'],
  ['payment.errors.failed', 'Something went wrong!'],
  ['common.strength.numberOrSymbol', 'Contains a number or symbol'],
  ['common.strength.length', 'At least 8 characters'],
  ['common.strength.notPersonal', 'Can’t contain your name or email address'],
  ['signUp.errors.empty', 'Cannot be empty'],
  ['signUp.errors.email', 'Invalid email address'],
  ['signUp.errors.alreadyInUse', 'Email address already registered'],
  ['signUp.errors.failed', 'Error signing up user'],
  ['signUp.code.failed', 'Sending failed'],
  ['signUp.code.resent', 'Email re-sent successfully!'],
  ['signUp.confirmed.text', 'Successfully confirmed!'],
  ['signUp.confirmed.heading', 'Just a moment...'],
  ['password.request.heading', 'Password request'],
  ['password.request.placeholder', 'Email address…'],
  ['password.request.submit', 'Request new password'],
  ['password.request.remembered', 'Ooh! Wait! I’ve remembered!'],
  ['password.request.empty', 'Please input your username!'],
  ['password.request.failed', 'User confirmation failed'],
  ['password.request.unknown', 'Invalid email address.'],
  ['password.request.confirmedTitle', 'Redirecting you in a few moments!'],
  ['password.request.confirmed', 'Account confirmed successfully!'],
  ['password.reset.title', 'Reset your password'],
  ['password.reset.check', 'Check your email for the confirmation code'],
  ['password.reset.newPassword', 'New password'],
  ['password.reset.confirmPassword', 'Confirm password'],
  ['password.reset.submit', 'Confirm'],
  ['password.reset.notReceived', 'Didn’t receive the email?'],
  ['password.reset.sendAgain', 'Send again'],
  ['password.reset.resentTitle', 'Success!'],
  ['password.reset.resent', 'Email re-sent successfully!'],
  ['password.reset.resendFailed', 'Error resending code'],
  ['password.reset.failed', 'Error resetting password'],
  ['password.reset.codeEmpty', 'Please input your confirmation code!'],
  ['password.reset.passwordEmpty', 'Please input your password!'],
  ['password.reset.confirmEmpty', 'Please confirm your password!'],
  ['password.reset.inconsistent', 'The two passwords that you entered are inconsistent!'],
  ['password.reset.mismatch', 'Password mismatch'],
  ['password.reset.done', 'Password reset successful. You can sign in now.'],
  ['common.menu.account', 'Account settings'],
  ['common.menu.security', 'Security'],
  ['settings.title', 'Security settings'],
  ['settings.name.givenName', 'First name'],
  ['settings.name.familyName', 'Last name'],
  ['settings.name.title', 'Edit name'],
  ['settings.edit', 'Edit'],
  ['settings.contact.email', 'Email address'],
  ['settings.contact.phone', 'Phone number'],
  ['settings.contact.password', 'Password'],
  ['settings.contact.encrypted', 'Encrypted'],
  ['settings.password.title', 'Change password'],
  ['settings.password.close', 'Close'],
  ['settings.password.submit', 'Change password'],
  ['settings.tabs.signIn', 'Sign-in information'],
  ['settings.tabs.userData', 'User data'],
  ['settings.tabs.device', 'Devices'],
  ['settings.tabs.mfa', 'Two-step verification'],
  ['checkout.promo.label', 'Promo code'],
  ['checkout.promo.unknown', 'Enter a valid promo code'],
  ['checkout.promo.second', 'Cannot apply more than one coupon code'],
  ['checkout.promo.minimum', 'Minimum order amount should be greater than {{amount}}'],
  ['checkout.promo.applied', 'Coupon applied'],
  ['checkout.changePlan', 'Change plan'],
  ['checkout.change.heading', 'Change membership plan'],
  ['common.interval.annual', 'Annual'],
  ['common.interval.monthly', 'Monthly'],
  ['checkout.next', 'Next'],
  ['checkout.confirm', 'Confirm'],
  ['checkout.complete', 'Complete'],
  ['checkout.cancel', 'Cancel'],
  ['checkout.completed.heading', 'Just a moment...'],
  ['checkout.unavailable.customer', 'Stripe customer creation error!'],
  ['checkout.unavailable.update', 'Stripe customer updation error!'],
  ['checkout.unavailable.quote', 'Subscription retrieval failed!'],
  ['checkout.unavailable.confirm', 'Something went wrong!'],
  ['terms.TERMS_OF_SERVICE_MESSAGE_DECLINE', 'The Terms of Service must be accepted.'],
];

it.each(texts)('The text %s reads “%s”', (key, text) => {
  expect(translator('en')(key)).toBe(text);
});

it('Every text of the specification is translated, and none is English in another language by mistake', () => {
  // Words that another language has taken over as they are.
  const alike = new Set(['common.steps.profile', 'common.steps.plan', 'codes.wrong']);
  const same = texts.flatMap(([key, text]) =>
    languages
      .filter((lang) => lang !== 'en' && translator(lang)(key) === text && !alike.has(key))
      .map((lang) => `${lang} ${key}`),
  );
  expect(same).toEqual([]);
});

it('The terms have the keys of the specification', () => {
  for (const name of ['RESIGN', 'ACCEPTED', 'ERROR', 'DECLINE'] as const) {
    for (const lang of languages) expect(translator(lang)(`terms.TERMS_OF_SERVICE_MESSAGE_${name}`)).not.toBe('');
  }
});

it('The settings report the result of a change by the keys of the specification', () => {
  const keys = [
    'settings.TAB_USER_DATA_MESSAGE_EROR',
    'settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS',
    'password.change.CHANGE_PASSWORD_MESSAGE_EROR',
  ] as const;
  for (const lang of languages) {
    const said = keys.map((key) => translator(lang)(key));
    expect(new Set(said).size).toBe(keys.length);
    for (const text of said) expect(text).toMatch(/^\p{Lu}.*\.$/u);
  }
});

it('Notices stay as long as the specification says', () => {
  expect(noticeDurationsMs).toMatchObject({ terms: 5000, redirecting: 1500, short: 2500, profile: 3000, never: null });
});

it.each([
  [
    'the JSON API says so of an address that is taken',
    'server/sign-up/sign-up-texts.ts',
    'An account with the given email already exists.',
  ],
  ['and of a token that was revoked', 'server/oidc/api-token.ts', 'Access Token has been revoked'],
  ['and of an account without a password', 'server/sign-up/sign-up-texts.ts', 'Password cannot be empty.'],
])('The source has the text of the specification: %s', (_name, file, text) => {
  expect(readFileSync(file, 'utf8')).toContain(text);
});

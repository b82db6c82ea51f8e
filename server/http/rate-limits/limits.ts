import type { CallId } from '../access-table.ts';
import { defineCounter as counter, type LimitDefinition, defineLimit as limit } from './definition.ts';

// Every rate limit of the product. `configureLimits` fills in the variables of the configuration, and `npm run docs` prints this
// table into docs/configuration.md.

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const guessWindow = 'GUESS_WINDOW_MINUTES';
const signUpWindow = 'SIGN_UP_WINDOW_MINUTES';
const cardWindow = 'CARD_WINDOW_MINUTES';

const guessAddress = (key: string) => counter('address', key, 'GUESS_LIMIT_ADDRESS');
const guessDevice = (key: string) => counter('device', key, 'GUESS_LIMIT_DEVICE');
const guessOverall = (key: string) =>
  ({ ...counter('overall', key, 'GUESS_LIMIT_OVERALL'), whenFull: 'slow' }) as const;
const passwordChecks = counter('account', 'checks:account', 'PASSWORD_LIMIT_MEMBER');
const signUpOverall = (key: string) =>
  ({ ...counter('overall', key, 'SIGN_UP_LIMIT_OVERALL'), whenFull: 'slow-mail' }) as const;
const userCards = counter('account', 'card:member', 'CARD_LIMIT_MEMBER');
const overallCards = { ...counter('overall', 'card:overall', 'CARD_LIMIT_OVERALL'), whenFull: 'refuse' } as const;
const userPromotions = (key: string) => counter('account', key, { variable: 'CARD_LIMIT_MEMBER', times: 2 });
const addressPromotions = (key: string) => counter('address', key, { variable: 'CARD_LIMIT_ADDRESS', times: 2 });
const userSms = { ...counter('account', 'sms:member', 'SMS_LIMIT_MEMBER'), window: dayMs };
const numberSms = { ...counter('number', 'sms:number', 'SMS_LIMIT_NUMBER'), window: dayMs };
const addressSms = counter('address', 'sms:address', 'SMS_LIMIT_ADDRESS');
const overallSms = { ...counter('overall', 'sms:overall', 'SMS_LIMIT_OVERALL'), whenFull: 'refuse' } as const;

/** The limits that `consumeLimits` and `rateLimiter` count. */
export const rateLimits = {
  passwordGuess: limit('wrong passwords from devices that have not signed in to the account before', guessWindow, [
    guessAddress('guess:address'),
    counter('account', 'guess:account', 'GUESS_LIMIT_ACCOUNT'),
    guessOverall('guess:overall'),
  ]),
  knownDevicePasswordGuess: limit('wrong passwords at one account from a device that it knows', guessWindow, [
    guessDevice('guess:device'),
  ]),
  passwordCheck: limit('right passwords of one account', hourMs, [passwordChecks]),
  knownDevicePasswordCheck: limit('right passwords of one account from a device that it knows', hourMs, [
    counter('device', 'checks:device', 'PASSWORD_LIMIT_DEVICE'),
    passwordChecks,
  ]),
  resetCode: limit('requests for a code to reset a password, from unknown devices', guessWindow, [
    guessAddress('reset-ask:address'),
    { ...guessOverall('reset-ask:overall'), whenFull: 'slow-mail' },
  ]),
  knownDeviceResetCode: limit('requests for a code to reset a password, from a known device', guessWindow, [
    guessDevice('reset-ask:device'),
  ]),
  resetCodeGuess: limit('wrong codes to reset a password, from unknown devices', guessWindow, [
    guessAddress('reset-guess:address'),
    guessOverall('reset-guess:overall'),
  ]),
  knownDeviceResetCodeGuess: limit('wrong codes to reset a password, from a known device', guessWindow, [
    guessDevice('reset-guess:device'),
  ]),
  firstPasswordHint: {
    ...limit('mails that explain to a member without a password how to set one', dayMs, [
      counter('account', 'first-reset-hint', 1),
    ]),
    refusal: 'no mail is sent',
  },

  cancelLink: limit('mails with a link that cancels the membership', hourMs, [
    { ...counter('account', 'cancel-link:account', 3), window: dayMs },
    counter('address', 'cancel-link:address', 10),
  ]),

  passkeySignIn: limit('passkey answers that are not accepted', guessWindow, [guessAddress('guess:passkey')]),
  signInCodeGuess: limit('wrong codes by mail at the sign-in', guessWindow, [guessAddress('sign-in-code')]),
  mfaCodeGuess: limit('wrong codes of the second factor from unknown devices', guessWindow, [
    guessAddress('mfa-guess:address'),
    guessOverall('mfa-guess:overall'),
    // An authenticator's code has three right values at any moment: 20 guesses a day find one of them in 45 years.
    { ...counter('account', 'mfa-guess:account', 20), window: dayMs },
  ]),
  knownDeviceMfaCodeGuess: limit(
    'wrong codes of the second factor from one known device, and from all of them',
    dayMs,
    [
      counter('device', 'mfa-guess:device', 10),
      // An attacker who knew the password before there was a second factor may have collected many devices.
      counter('account', 'mfa-guess:devices', 25),
    ],
  ),
  recoveryCodeGuess: limit('wrong recovery codes', guessWindow, [
    guessAddress('mfa-recovery:address'),
    guessOverall('mfa-recovery:overall'),
  ]),
  mfaChallengeGuess: {
    ...limit('answers to one challenge for the second factor, of whatever method', 10 * minuteMs, [
      counter('flow', 'mfa-challenge-guesses', 5),
    ]),
    refusal: 'the challenge has ended',
  },

  oneTimeCode: limit('one-time codes of one flow, and to one account for one purpose', dayMs, [
    { ...counter('flow', 'code-wait', 1), window: 30_000 },
    // 10 codes of 5 guesses a day: an attacker finds one of a million codes in 55 years. Known devices are accounts of their own.
    counter('account', 'codes-of', 10),
  ]),
  oneTimeCodeGuess: {
    ...limit('wrong entries of one code', 10 * minuteMs, [counter('code', 'code-guesses', 5)]),
    refusal: 'the code is void',
  },
  emailChangeCode: limit('codes to new mail addresses', hourMs, [
    counter('account', 'contact-email:member', 5),
    counter('address', 'contact-email:address', 20),
  ]),
  emailChangeGuess: limit('wrong codes for a new mail address', hourMs, [
    counter('account', 'contact-guess-email:member', 25),
    counter('address', 'contact-guess-email:address', 100),
  ]),
  phoneChangeGuess: limit('wrong codes for a new phone number', hourMs, [
    counter('account', 'contact-guess-phone:member', 25),
    counter('address', 'contact-guess-phone:address', 100),
  ]),

  signUp: limit('sign-ups', signUpWindow, [
    counter('address', 'sign-up:address', 'SIGN_UP_LIMIT_ADDRESS'),
    signUpOverall('sign-up:overall'),
  ]),
  companySignUp: limit('sign-ups through providers with domains', signUpWindow, [
    counter('address', 'sign-up:company', { variable: 'COMPANY_LIMIT_ADDRESS', atLeast: 'SIGN_UP_LIMIT_ADDRESS' }),
    signUpOverall('sign-up:overall'),
  ]),
  signUpCode: limit('further codes of sign-ups', signUpWindow, [
    counter('address', 'sign-up-code:address', 'SIGN_UP_LIMIT_ADDRESS'),
    signUpOverall('sign-up-code:overall'),
  ]),
  signUpGuess: limit('wrong codes of sign-ups', signUpWindow, [
    counter('address', 'sign-up-guess:address', { variable: 'SIGN_UP_LIMIT_ADDRESS', times: 5 }),
    {
      ...counter('overall', 'sign-up-guess:overall', { variable: 'SIGN_UP_LIMIT_OVERALL', times: 5 }),
      whenFull: 'slow',
    },
  ]),
  partnerDealCheck: limit('questions whether an address has a deal of a partner', minuteMs, [
    counter('address', 'partner-check', 30),
  ]),

  userCode: limit('wrong codes of devices (RFC 8628) by visitors', guessWindow, [
    guessAddress('user-code:address'),
    guessOverall('user-code:overall'),
  ]),
  signedInUserCode: limit('wrong codes of devices (RFC 8628) by members', guessWindow, [
    guessAddress('user-code:address'),
    counter('account', 'user-code:member', 'GUESS_LIMIT_DEVICE'),
  ]),
  pushedRequest: limit('pushed authorization requests: one server pushes those of all members of an app', minuteMs, [
    counter('address', 'rate:pushed-requests', 1_200),
  ]),
  deviceRequest: limit('device authorization requests: each waits with a code that can be guessed', minuteMs, [
    counter('address', 'rate:device-requests', 60),
  ]),
  authorizationRequest: limit('authorization requests of visitors: a company may share one address', minuteMs, [
    counter('address', 'rate:authorize', 600),
  ]),
  userAuthorizationRequest: {
    ...limit('authorization requests that wait for an answer of a signed-in member', minuteMs, [
      counter('account', 'rate:authorize:member', 120),
    ]),
    refusal: '`temporarily_unavailable` to the client app',
  },

  federationAttempt: limit('sign-ins started at providers', guessWindow, [guessAddress('federation')]),
  companyFederationAttempt: limit('sign-ins started at providers with domains', guessWindow, [
    counter('address', 'federation-company', { variable: 'COMPANY_LIMIT_ADDRESS', atLeast: 'GUESS_LIMIT_ADDRESS' }),
  ]),
  samlResponse: {
    ...limit('SAML responses to one attempt', 15 * minuteMs, [counter('flow', 'federation-answers', 5)]),
    refusal: 'the sign-in page, with a notice',
  },
  unsolicitedSamlResponse: {
    ...limit('SAML responses to no attempt', guessWindow, [guessAddress('federation-unasked')]),
    refusal: 'the sign-in page, with a notice',
  },
  upstreamLogoutPost: limit('logout messages of identity providers by POST that are not accepted', guessWindow, [
    guessAddress('federation-logout'),
  ]),

  card: limit('cards that are entered, and charges of cards that were not entered just before', cardWindow, [
    userCards,
    counter('address', 'card:address', 'CARD_LIMIT_ADDRESS'),
    overallCards,
  ]),
  refusedCard: {
    ...limit('further cards that Stripe refuses at one setup intent', cardWindow, [userCards, overallCards]),
    refusal: 'the setup intent is canceled',
  },
  promotion: limit('promotion codes that are applied', cardWindow, [
    userPromotions('promotion:member'),
    addressPromotions('promotion:address'),
  ]),
  promotionPreview: limit('questions what a promotion code takes off', cardWindow, [
    userPromotions('promotion-asked:member'),
    addressPromotions('promotion-asked:address'),
  ]),
  giftCode: limit('gift codes that a member tries; one that is redeemed does not count', hourMs, [
    counter('account', 'gift-code:member', 10),
    counter('address', 'gift-code:address', 50),
  ]),
  billingRead: {
    ...limit('pages and calls that ask Stripe', minuteMs, [counter('account', 'billing:reads', 120)]),
    refusal: 'as while Stripe does not answer',
  },

  settingsForm: limit('forms that need a recent sign-in, with wrong codes and second thoughts', hourMs, [
    counter('device', 'settings-forms', 40),
    counter('account', 'settings-forms-of', 120),
  ]),
  billingDetails: limit('changes of billing details; each asks Stripe', hourMs, [
    counter('account', 'billing-details', 60),
  ]),
  pictureUpload: limit('uploaded pictures', hourMs, [counter('account', 'picture-uploads', 20)]),
  profileChange: limit('profile changes; each sends a mail', hourMs, [counter('account', 'profile-changes', 30)]),

  sms: limit('text messages to numbers that are not confirmed', hourMs, [
    userSms,
    numberSms,
    addressSms,
    {
      ...counter('overall', 'sms:overall:new', { variable: 'SMS_LIMIT_OVERALL', times: 0.5 }),
      whenFull: 'refuse',
    },
    overallSms,
  ]),
  confirmedNumberSms: limit('text messages to confirmed numbers; for known devices and others as many each', hourMs, [
    userSms,
    numberSms,
    addressSms,
    overallSms,
  ]),
  sentEmail: limit('mails of client apps to one address (`/sentEmail`)', hourMs, [
    counter('recipient', 'sent-email', 10),
  ]),
  // The maximum that a user keeps: more would only replace each other.
  notification: limit('notifications to one member (`/message/sent`)', dayMs, [
    counter('recipient', 'messages-to', 500),
  ]),

  apiCall: limit('calls of the JSON API, each call apart; an app may have its own number', minuteMs, [
    counter('client', 'rate:api', 'API_LIMIT_CALLER'),
  ]),
  publicApiCall: limit('public calls of the JSON API, each call apart', minuteMs, [
    counter('address', 'rate:api', 'API_LIMIT_ADDRESS'),
  ]),
  apiCallForVisitors: limit('public calls of an app for its visitors; an app may have its own number', minuteMs, [
    counter('client', 'rate:api:for-visitors', 'API_LIMIT_VISITORS'),
  ]),
} as const satisfies Record<string, LimitDefinition>;

/** The calls of the JSON API that have another maximum than `apiCall` and `publicApiCall`, unless API_LIMIT_CALLS has them. */
export const apiCallsPerMinute = {
  signUp: 30,
  confirmSignUp: 60,
  resendConfirmationCode: 30,
  checkSignupFromAppsumo: 30,
  forgotPassword: 30,
  forgotPasswordSubmit: 30,
  changePassword: 30,
  setPreferredMFA: 30,
  setupTOTP: 30,
  verifyTOTPToken: 30,
  updateUserAttributes: 30,
  changeEmail: 30,
  changePhone: 30,
  verifyUserAttribute: 30,
  orderCreation: 60,
  coupon: 20,
  upgradeSubscription: 30,
  savePaymentType: 30,
  verifyClient: 60,
  sentEmail: 60,
  messageSent: 120,
} as const satisfies Partial<Record<CallId, number>>;

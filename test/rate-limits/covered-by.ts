import type { RateLimits } from '../../server/http/index.ts';
import type { specialLimits } from '../../server/http/rate-limits/special-limits.ts';

/** A test that reaches a limit over HTTP: its file below test/, and its title. */
export type Covering = readonly [file: string, title: string];

const here = 'rate-limits/http-rows.ts';

/** For each limit of the table the test that reaches it over HTTP. A limit without an entry does not compile. */
export const coveredBy: Readonly<Record<keyof RateLimits, Covering>> = {
  passwordGuess: [here, 'passwordGuess'],
  knownDevicePasswordGuess: ['attacks/guessing.test.ts', 'A stolen known device has few guesses of its own'],
  passwordCheck: [
    'attacks/password-flood.test.ts',
    'The 61st right password of a user within an hour is refused on every device, and wrong ones do not count',
  ],
  knownDevicePasswordCheck: [
    'attacks/password-flood.test.ts',
    'The 31st check with one device’s cookie within an hour is refused, and the user signs in elsewhere',
  ],
  resetCode: [here, 'resetCode'],
  knownDeviceResetCode: [here, 'knownDeviceResetCode'],
  resetCodeGuess: [here, 'resetCodeGuess'],
  knownDeviceResetCodeGuess: [here, 'knownDeviceResetCodeGuess'],
  firstPasswordHint: [
    'sign-in/imported.test.ts',
    'An imported user without a password gets the answer of a wrong password, and one mail a day',
  ],
  cancelLink: [
    'account/cancel-by-mail.test.ts',
    'A stranger can have three mails a day sent to one address, and ten an hour from one network',
  ],
  passkeySignIn: [
    'attacks/passkeys.test.ts',
    'Invalid answers are refused unread after a while, and those of a neighbour do not block password sign-ins',
  ],
  signInCodeGuess: [here, 'signInCodeGuess'],
  mfaCodeGuess: [here, 'mfaCodeGuess'],
  knownDeviceMfaCodeGuess: [here, 'knownDeviceMfaCodeGuess'],
  recoveryCodeGuess: [here, 'recoveryCodeGuess'],
  mfaChallengeGuess: [
    'attacks/second-factor-guessing.test.ts',
    'Of 10,000 codes over 1,000 challenges from 10,000 addresses fewer than 50 are checked (brute force)',
  ],
  oneTimeCode: [
    'attacks/reset-codes.test.ts',
    'Strangers get ten codes a day for an account over all flows, and a known device still gets one',
  ],
  oneTimeCodeGuess: [
    'attacks/reset-codes.test.ts',
    'An attacker who sends 50 codes at once gets five guesses, and the right code fails afterwards',
  ],
  emailChangeCode: [here, 'emailChangeCode'],
  emailChangeGuess: [here, 'emailChangeGuess'],
  phoneChangeGuess: [here, 'phoneChangeGuess'],
  signUp: [here, 'signUp'],
  companySignUp: [
    'federation/company-limits.test.ts',
    'A provider with domains has limits of its own for attempts and for codes to addresses of its domains',
  ],
  signUpCode: [
    'attacks/sign-up-limits.test.ts',
    'A network has a limit of codes for many addresses of one mailbox, however they are requested',
  ],
  signUpGuess: [
    'attacks/sign-up-limits.test.ts',
    'A network that guesses codes of many addresses reaches its limit, and others still confirm',
  ],
  partnerDealCheck: [here, 'partnerDealCheck'],
  userCode: [
    'attacks/user-codes.test.ts',
    'Of guesses from one address a few are checked, and afterwards not even the right code is',
  ],
  signedInUserCode: ['attacks/user-codes.test.ts', 'A user has only a few guesses, from whatever address'],
  pushedRequest: [here, 'pushedRequest'],
  deviceRequest: [here, 'deviceRequest'],
  authorizationRequest: [here, 'authorizationRequest'],
  userAuthorizationRequest: [
    'oidc/visitor-limit.test.ts',
    'A signed-in user with too many open requests gets temporarily_unavailable, but still gets a code silently',
  ],
  federationAttempt: [here, 'federationAttempt'],
  companyFederationAttempt: [here, 'companyFederationAttempt'],
  samlResponse: ['attacks/saml-replay.test.ts', 'Repeated SAML answers to one attempt are read only a few times'],
  unsolicitedSamlResponse: [here, 'unsolicitedSamlResponse'],
  upstreamLogoutPost: [here, 'upstreamLogoutPost'],
  card: ['attacks/cards.test.ts', 'An attacker who tests cards is stopped by the same count on every route'],
  refusedCard: [
    'attacks/cards.test.ts',
    'A setup intent is canceled at the limit when an attacker confirms card after card directly at Stripe',
  ],
  promotion: ['attacks/promo-codes.test.ts', 'Guesses at codes through pages or calls are limited'],
  promotionPreview: ['attacks/promo-codes.test.ts', 'Guesses at codes through pages or calls are limited'],
  giftCode: [
    'attacks/gifts.test.ts',
    'Attack: of twelve guesses at codes ten are checked, and then not even a right code is',
  ],
  billingRead: [
    'rate-limits/billing.test.ts',
    'A member who has used up the reads of a minute gets the page as if Stripe did not answer',
  ],
  settingsForm: [here, 'settingsForm'],
  billingDetails: [
    'billing/billing-details.test.ts',
    'The sixty-first change of billing details within an hour is refused, and asks nothing of Stripe',
  ],
  pictureUpload: [
    'account/picture.test.ts',
    'Attack: the twenty-first picture of an hour is refused, before it is read',
  ],
  profileChange: [
    'attacks/settings.test.ts',
    'A mailbox gets at most thirty mails an hour about changes, by page and by call together',
  ],
  sms: ['attacks/sms-pumping.test.ts', 'A user who requests codes for many numbers gets only the share of a day'],
  confirmedNumberSms: [here, 'confirmedNumberSms'],
  sentEmail: [
    'messages/calls.test.ts',
    'POST /sentEmail allows ten mails an hour to one address, from all clients together',
  ],
  notification: ['attacks/member-storage.test.ts', 'One user gets 500 notifications a day from all senders together'],
  apiCall: [
    'api/limits.test.ts',
    'Each caller has its own limit, sees the calls left and gets Retry-After when refused',
  ],
  publicApiCall: [here, 'publicApiCall'],
  apiCallForVisitors: [here, 'apiCallForVisitors'],
};

/** The limits with a rule of their own have tests of their own. */
export const specialCoveredBy: Readonly<Record<keyof typeof specialLimits, Covering>> = {
  passwordQueue: ['attacks/guessing.test.ts', 'A full password queue answers 503 with Retry-After and counts no guess'],
  passwordQueueAccount: [
    'attacks/password-flood.test.ts',
    'Of 216 right passwords at once over 12 devices most are refused at once, and another user is served next',
  ],
  passwordQueueAddress: [
    'attacks/password-flood.test.ts',
    'Sign-ins to many accounts from one address take no more than the share of that address',
  ],
  slowLane: [
    'attacks/guessing.test.ts',
    'Guesses from many addresses are slowed down overall and reveal nothing, and known devices are not slowed down',
  ],
  visitorData: [
    'attacks/visitor-storage.test.ts',
    'A full store refuses visitors without a cookie of an earlier sign-in with 503 and keeps nothing',
  ],
  visitorShare: [
    'attacks/visitor-storage.test.ts',
    'Long states from one address stay within its share, and other addresses still get through',
  ],
  session: [
    'attacks/session-flood.test.ts',
    'Of 200 sign-ins at once 50 sessions stay, each of them in the list, and no other one opens a page',
  ],
  devicePoll: [
    'attacks/device-codes.test.ts',
    'Of twenty parallel polls at most one gets tokens, and the proof of a leak revokes them',
  ],
};

import type { RateLimits } from '../../server/rate-limits/index.ts';
import type { specialLimits } from '../../server/rate-limits/special-limits.ts';

/** A test that reaches a limit over HTTP: its file below test/, and its title. */
export type Covering = readonly [file: string, title: string];

const here = 'rate-limits/http.test.ts';

/** For each limit of the table the test that reaches it over HTTP. A limit without an entry does not compile. */
export const coveredBy: Readonly<Record<keyof RateLimits, Covering>> = {
  passwordGuess: [here, 'passwordGuess'],
  knownDevicePasswordGuess: ['attacks/guessing.test.ts', 'a known device, stolen, has few guesses of its own'],
  passwordCheck: [
    'attacks/password-flood.test.ts',
    'the 61st right password of one member within an hour is refused on every device; wrong ones use none of them up',
  ],
  knownDevicePasswordCheck: [
    'attacks/password-flood.test.ts',
    'the 31st check with the cookie of one device within an hour is refused, and the member goes on elsewhere',
  ],
  resetCode: [here, 'resetCode'],
  knownDeviceResetCode: [here, 'knownDeviceResetCode'],
  resetCodeGuess: [here, 'resetCodeGuess'],
  knownDeviceResetCodeGuess: [here, 'knownDeviceResetCodeGuess'],
  firstPasswordHint: [
    'sign-in/imported.test.ts',
    'a member without a password gets the answer of a wrong one, and one mail a day',
  ],
  passkeySignIn: [
    'attacks/passkeys.test.ts',
    'are refused unread after a while, and wrong ones of a neighbour do not lock the password out',
  ],
  signInCodeGuess: [here, 'signInCodeGuess'],
  mfaCodeGuess: [here, 'mfaCodeGuess'],
  knownDeviceMfaCodeGuess: [here, 'knownDeviceMfaCodeGuess'],
  recoveryCodeGuess: [here, 'recoveryCodeGuess'],
  mfaChallengeGuess: [
    'attacks/second-factor-guessing.test.ts',
    'brute force: of 10,000 codes over 1,000 challenges from 10,000 addresses fewer than 50 are ever checked',
  ],
  oneTimeCode: [
    'attacks/reset.test.ts',
    'guessing codes over many flows: ten codes a day, and then no more from strangers',
  ],
  oneTimeCodeGuess: [
    'attacks/reset.test.ts',
    'guessing codes: 50 at once get five, then the right one is worth nothing',
  ],
  emailChangeCode: [here, 'emailChangeCode'],
  emailChangeGuess: [here, 'emailChangeGuess'],
  phoneChangeGuess: [here, 'phoneChangeGuess'],
  signUp: [here, 'signUp'],
  companySignUp: [
    'federation/company-limits.test.ts',
    'have a limit of their own at a provider with domains: for attempts, and for codes to their addresses',
  ],
  signUpCode: [
    'attacks/sign-up-limits.test.ts',
    'a mailbox with many addresses: however codes are asked for again, the network has a limit of them',
  ],
  signUpGuess: [
    'attacks/sign-up-limits.test.ts',
    'guessing codes of many strangers’ addresses: the network has a limit of wrong guesses, and others still confirm',
  ],
  partnerDealCheck: [here, 'partnerDealCheck'],
  userCode: [
    'attacks/user-codes.test.ts',
    'from one address: a few are looked at, then not even the right one is, one after the other or at once',
  ],
  signedInUserCode: ['attacks/user-codes.test.ts', 'a member guesses no more than a few, from whatever address'],
  pushedRequest: [here, 'pushedRequest'],
  deviceRequest: [here, 'deviceRequest'],
  authorizationRequest: [here, 'authorizationRequest'],
  userAuthorizationRequest: [
    'oidc/visitor-limit.test.ts',
    'a member keeps no more waiting than a person would, and still goes on in silence',
  ],
  federationAttempt: [here, 'federationAttempt'],
  companyFederationAttempt: [here, 'companyFederationAttempt'],
  samlResponse: ['attacks/saml.test.ts', 'again and again: it is read a few times, and no more'],
  unsolicitedSamlResponse: [here, 'unsolicitedSamlResponse'],
  samlLogoutPost: [here, 'samlLogoutPost'],
  card: ['attacks/cards.test.ts', 'whoever tries out cards is stopped on every way at the same count'],
  refusedCard: [
    'attacks/cards.test.ts',
    'card after card at one setup intent, straight at Stripe: it is taken away at the limit',
  ],
  promotion: ['attacks/promo-codes.test.ts', 'codes are not guessed through pages or calls'],
  promotionPreview: ['attacks/promo-codes.test.ts', 'codes are not guessed through pages or calls'],
  billingRead: [
    'rate-limits/billing.test.ts',
    'a member who has used up the reads of a minute sees the page as while Stripe does not answer',
  ],
  settingsForm: [here, 'settingsForm'],
  profileChange: [
    'attacks/settings.test.ts',
    'a mailbox is not flooded by changes to and fro: thirty an hour, by page and by call together',
  ],
  sms: ['attacks/sms-pumping.test.ts', 'many numbers by one member: their share of a day, and no more'],
  confirmedNumberSms: [here, 'confirmedNumberSms'],
  sentEmail: ['messages/calls.test.ts', 'floods no mailbox: ten an hour to one address, from all client apps together'],
  notification: ['attacks/member-storage.test.ts', 'notifications to one member: 500 a day, whoever sends them'],
  apiCall: [
    'api/openapi.test.ts',
    'each caller has calls of their own, is told how many are left, and when refused how long to wait',
  ],
  publicApiCall: [here, 'publicApiCall'],
  apiCallForVisitors: [here, 'apiCallForVisitors'],
};

/** The limits with a rule of their own have tests of their own. */
export const specialCoveredBy: Readonly<Record<keyof typeof specialLimits, Covering>> = {
  passwordQueue: [
    'attacks/guessing.test.ts',
    'a full password queue answers 503 with Retry-After and counts as no guess',
  ],
  passwordQueueAccount: [
    'attacks/password-flood.test.ts',
    '216 right passwords at once over 12 known devices: another member is next, and the rest is refused at once',
  ],
  passwordQueueAddress: [
    'attacks/password-flood.test.ts',
    'many accounts from one address take no more than the share of that address',
  ],
  slowLane: [
    'attacks/guessing.test.ts',
    'from many addresses is slowed down overall and tells nothing, and known devices are not',
  ],
  visitorData: [
    'attacks/visitor-storage.test.ts',
    'full: visitors without a cookie of an earlier sign-in are refused with 503, and nothing is kept',
  ],
  visitorShare: [
    'attacks/visitor-storage.test.ts',
    'long states from one address: its rows stay within its share, and other addresses go on',
  ],
  session: [
    'attacks/session-flood.test.ts',
    '200 sign-ins at once: 50 sessions stay, every one of them in the list, and no other one opens a page',
  ],
  devicePoll: [
    'attacks/device-codes.test.ts',
    'parallel polling: of twenty questions at once one gets tokens, and the proof of a leak ends them',
  ],
};

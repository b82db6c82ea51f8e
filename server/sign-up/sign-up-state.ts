import type { CodeCheck } from '../messages/index.ts';
import type { NormalisedEmail } from '../shared/index.ts';
import type { User } from '../users/index.ts';

/** An account that waits for the code that was mailed to its address. Step SECURITY. */
export type UnverifiedState =
  /** It was started with a password or at a provider, and is no user yet. */
  | { kind: 'unverified'; email: NormalisedEmail }
  /** The same for the address of a user: no code is right, and the answers are those of `unverified`. */
  | { kind: 'decoy'; email: NormalisedEmail }
  /** A user whose address is unconfirmed, for example one that an operator created. */
  | { kind: 'unverified-user'; email: NormalisedEmail };

/** The values of `sign_ups.state` before the confirmation. */
export const storedStates = { unverified: 'begun', decoy: 'decoy' } as const;

/** The sign-up of one browser, or of one caller of the JSON API. */
export type SignUpState =
  /** Step PROFILE: nothing is known. */
  | { kind: 'profile' }
  | UnverifiedState
  /** The code was right: the user is created next, or the address confirmed. No page. */
  | { kind: 'proven'; email: NormalisedEmail }
  /** The user exists. No page: the next state depends on the place of the visitor. */
  | { kind: 'confirmed'; user: User }
  /** Step PLAN of the sign-up; without plans for sale a page that announces the confirmation. */
  | { kind: 'verified' }
  /** Step PLAN of a user who did not come from the form. */
  | { kind: 'post-sign-up-plan' }
  /** The rules of the sign-in decide what comes next (`nextStep`). */
  | { kind: 'complete' };

/** The place of a confirmed user in the sign-up. */
export interface SignUpPlace {
  /** `verify-code`: the page of the code after a sign-in. */
  way: 'sign-up' | 'post-signup' | 'verify-code';
  /** This very request has confirmed the address. */
  justConfirmed: boolean;
  /** This browser has confirmed an address in the sign-up, or the address names a plan. */
  underWay: boolean;
  plansAreSold: boolean;
}

export type SignUpEvent =
  /** By the form, a JSON call or a provider. `taken`: the address belongs to a user. */
  | { kind: 'account-named'; email: NormalisedEmail; taken: boolean; uniformAnswers: boolean }
  /** `incomplete`: fewer than six digits, so it was not checked. */
  | { kind: 'code-checked'; check: CodeCheck | 'incomplete' }
  /** `already-in-use`: another sign-up has confirmed the address meanwhile. */
  | { kind: 'account-confirmed'; result: User | 'already-in-use' | 'disabled' }
  | ({ kind: 'continued' } & SignUpPlace);

export type SignUpRefusal =
  /** 'Email Address already registered'; with uniform answers only after the right code. */
  | 'already-in-use'
  /** There is nothing to confirm: an unknown flow, or one that is over. */
  | 'not-found'
  | 'incomplete'
  | 'incorrect'
  /** The code was used or replaced, has expired, or has had too many attempts. */
  | 'invalidated'
  | 'disabled';

type Refused<Kind extends SignUpRefusal = SignUpRefusal> = { kind: 'refused'; why: Kind };

const refuse = <Kind extends SignUpRefusal>(why: Kind): Refused<Kind> => ({ kind: 'refused', why });

const isUnverified = (state: SignUpState): state is UnverifiedState =>
  state.kind === 'unverified' || state.kind === 'decoy' || state.kind === 'unverified-user';

type StateOfKind<Kind extends SignUpState['kind']> = Extract<SignUpState, { kind: Kind }>;
type EventOfKind<Kind extends SignUpEvent['kind']> = Extract<SignUpEvent, { kind: Kind }>;
type Named = StateOfKind<'unverified' | 'decoy'> | Refused<'already-in-use'>;

/** The only transition of a sign-up; a refusal leaves the state as it is. Limits stop an event before it. Pure. */
export function transition(state: SignUpState, event: EventOfKind<'account-named'>): Named;
export function transition(
  state: SignUpState,
  event: EventOfKind<'account-confirmed'>,
): StateOfKind<'confirmed'> | Refused;
export function transition(state: SignUpState, event: EventOfKind<'continued'>): SignUpState;
export function transition(state: SignUpState, event: SignUpEvent): SignUpState | Refused;
export function transition(state: SignUpState, event: SignUpEvent): SignUpState | Refused {
  switch (event.kind) {
    case 'account-named':
      if (!event.taken) return { kind: 'unverified', email: event.email };
      return event.uniformAnswers ? { kind: 'decoy', email: event.email } : refuse('already-in-use');
    case 'code-checked':
      return isUnverified(state) ? checkCode(state, event.check) : refuse('not-found');
    case 'account-confirmed':
      if (state.kind !== 'proven') return refuse('not-found');
      return typeof event.result === 'string' ? refuse(event.result) : { kind: 'confirmed', user: event.result };
    case 'continued':
      return state.kind === 'confirmed' ? { kind: nextAfterConfirmation(state.user, event) } : state;
  }
}

function checkCode({ kind, email }: UnverifiedState, check: EventOfKind<'code-checked'>['check']) {
  if (check !== 'correct') return refuse(check);
  // It has no recipient, so a guessed code has no effect either.
  return kind === 'decoy' ? refuse('incorrect') : ({ kind: 'proven', email } as const);
}

function nextAfterConfirmation({ planId }: User, { way, justConfirmed, underWay, plansAreSold }: SignUpPlace) {
  const lacksPlan = plansAreSold && planId === null;
  if (way === 'sign-up') return justConfirmed || (lacksPlan && underWay) ? 'verified' : 'complete';
  if (way === 'post-signup' && lacksPlan) return 'post-sign-up-plan';
  return justConfirmed && !plansAreSold ? 'verified' : 'complete';
}

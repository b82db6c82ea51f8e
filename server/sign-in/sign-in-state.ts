import { needsInitialPassword } from '../password/index.ts';
import type { GuessLimit } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import { type NextStepInput, nextStep, type Step } from './next-step.ts';

/** The password was right, but the address is unconfirmed: a sign-up or a user. */
type UnverifiedAccount = { kind: 'sign-up'; id: string } | { kind: 'user'; id: string };

/** The sign-in of one browser. */
export type SignInState =
  /** Page /. */
  | { kind: 'signed-out' }
  /** An imported user without a password. Page /reset-password; everyone else sees a wrong password. */
  | { kind: 'first-password'; user: User }
  /**
   * The limit for all visitors is used up: a code by mail is next, whatever the password was. Page /sign-in/code.
   * @property user the recipient of the mail; undefined: none
   */
  | { kind: 'code-due'; user: User | undefined }
  /** Page /verify-code (`sign-up/sign-up-state.ts`). */
  | { kind: 'not-confirmed'; account: UnverifiedAccount }
  /** By the right password, a mailed code, a passkey, a provider or a confirmed address. No page. */
  | { kind: 'first-factor'; user: User }
  /** Page /second-factor: the right code starts the session (`mfa/verify-challenge.ts`). */
  | { kind: 'second-factor-required' }
  /** There is a session. No page. */
  | { kind: 'signed-in' }
  /** Page of the step: among others the terms to accept and the second factor to set up. */
  | { kind: 'next'; step: Step };

/** The reason of a refused sign-in; the specification's section 8 has a text for each. */
export type PasswordRefusal =
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number }
  | { kind: 'unknown-user' }
  | { kind: 'wrong-password' }
  | { kind: 'disabled' };

type StateOfKind<Kind extends SignInState['kind']> = Extract<SignInState, { kind: Kind }>;

export type PasswordSignInResult =
  | StateOfKind<'first-password' | 'code-due' | 'not-confirmed' | 'first-factor'>
  | { kind: 'refused'; refusal: PasswordRefusal };

export type PendingSignUp = { id: string; passwordHash: string };

/** The accounts that may have the password of an attempt. */
export interface Candidates {
  user: User | undefined;
  /** An unconfirmed sign-up with the same address. */
  started: PendingSignUp | undefined;
}

export type SignInEvent =
  /** `owner`: the account that has the password; undefined: none. `slowed`: the limit for all visitors is used up. */
  | {
      kind: 'password-checked';
      candidates: Candidates;
      owner: User | PendingSignUp | undefined;
      slowed: boolean;
      uniformAnswers: boolean;
    }
  /** `remembered`: this device replaces the second factor. */
  | { kind: 'factors-counted'; missing: number; remembered: boolean }
  | { kind: 'continued'; facts: Omit<NextStepInput, 'secondFactorPending'> };

type EventOfKind<Kind extends SignInEvent['kind']> = Extract<SignInEvent, { kind: Kind }>;
type Counted = StateOfKind<'second-factor-required' | 'signed-in'>;

export const refuse = (refusal: PasswordRefusal): PasswordSignInResult => ({ kind: 'refused', refusal });

/** The only transition of a sign-in. An event that does not fit changes nothing. Pure. */
export function transition(state: SignInState, event: EventOfKind<'password-checked'>): PasswordSignInResult;
export function transition(state: StateOfKind<'first-factor'>, event: EventOfKind<'factors-counted'>): Counted;
export function transition(state: Counted, event: EventOfKind<'continued'>): StateOfKind<'next'>;
export function transition(state: SignInState, event: SignInEvent): SignInState | PasswordSignInResult;
export function transition(state: SignInState, event: SignInEvent): SignInState | PasswordSignInResult {
  switch (event.kind) {
    case 'password-checked':
      return decidePassword(event);
    case 'factors-counted':
      if (state.kind !== 'first-factor') return state;
      return { kind: event.missing === 0 || event.remembered ? 'signed-in' : 'second-factor-required' };
    case 'continued':
      if (!canContinue(state)) return state;
      return { kind: 'next', step: nextStep({ ...event.facts, secondFactorPending: isSecondFactorPending(state) }) };
  }
}

const canContinue = (state: SignInState): boolean =>
  state.kind === 'second-factor-required' || state.kind === 'signed-in' || state.kind === 'next';

const isSecondFactorPending = (state: SignInState): boolean =>
  state.kind === 'second-factor-required' || (state.kind === 'next' && state.step.kind === 'second-factor');

function decidePassword({
  candidates: { user, started },
  owner,
  slowed,
  uniformAnswers,
}: EventOfKind<'password-checked'>): PasswordSignInResult {
  if (slowed) {
    const may = user !== undefined && owner === user && user.disabledAt === null && user.emailVerified;
    return { kind: 'code-due', user: may ? user : undefined };
  }
  if (owner === undefined) {
    if (!user && !started) return refuse({ kind: uniformAnswers ? 'wrong-password' : 'unknown-user' });
    return user && needsInitialPassword(user) ? { kind: 'first-password', user } : refuse({ kind: 'wrong-password' });
  }
  if (owner !== user) return { kind: 'not-confirmed', account: { kind: 'sign-up', id: owner.id } };
  if (user.disabledAt !== null) return refuse({ kind: 'disabled' });
  if (!user.emailVerified) return { kind: 'not-confirmed', account: { kind: 'user', id: user.id } };
  return { kind: 'first-factor', user };
}

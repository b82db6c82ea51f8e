import { type SignInEvent, type SignInState, transition } from '../../server/sign-in/sign-in-state.ts';
import type { User } from '../../server/users/index.ts';
import { toPlanId, toUserId } from '../support/ids.ts';
import { type EventVariants, readTable, type StateOfEachKind, walkStates } from '../support/state-tables.ts';

const user = {
  id: toUserId('ada'),
  emailVerified: true,
  disabledAt: null,
  importedAt: null,
  passwordHash: 'hash',
  acceptedTosVersion: 1,
  source: 'general',
  planId: toPlanId('plan'),
  offeredPlanId: null,
  dealAgainAt: null,
  secondFactorRequired: false,
  mfaPreference: 'none',
} as User;
const unconfirmed: User = { ...user, emailVerified: false };
const disabled: User = { ...user, disabledAt: 1 };
const imported: User = { ...user, importedAt: 1, passwordHash: null };
const started = { id: 'sign-up', passwordHash: 'hash' };

const states: StateOfEachKind<SignInState> = {
  'signed-out': { kind: 'signed-out' },
  'first-password': { kind: 'first-password', user: imported },
  'code-due': { kind: 'code-due', user },
  'not-confirmed': { kind: 'not-confirmed', account: { kind: 'user', id: user.id } },
  'first-factor': { kind: 'first-factor', user },
  'second-factor-required': { kind: 'second-factor-required' },
  'signed-in': { kind: 'signed-in' },
  next: { kind: 'next', step: { kind: 'accept-terms' } },
};

type PasswordChecked = Extract<SignInEvent, { kind: 'password-checked' }>;
const checked = (
  found: User | undefined,
  owner: PasswordChecked['owner'],
  more: Partial<PasswordChecked> = {},
): PasswordChecked => ({
  kind: 'password-checked',
  candidates: { user: found, started: undefined },
  owner,
  slowed: false,
  uniformAnswers: false,
  ...more,
});
const continued = (change: Partial<User>) => ({
  kind: 'continued' as const,
  facts: { user: { ...user, ...change }, terms: { number: 1, label: '1' }, plansAreSold: true, nowMs: 0 },
});

const events: EventVariants<SignInEvent> = {
  'password-checked': {
    right: checked(user, user),
    'right, address unconfirmed': checked(unconfirmed, unconfirmed),
    'right, user disabled': checked(disabled, disabled),
    'right, of a sign-up': checked(user, started, { candidates: { user, started }, uniformAnswers: true }),
    wrong: checked(user, undefined),
    'wrong, user disabled': checked(disabled, undefined),
    'wrong, user without a password': checked(imported, undefined),
    'unknown user': checked(undefined, undefined),
    'unknown user, uniform answers': checked(undefined, undefined, { uniformAnswers: true }),
    'right, all limited': checked(user, user, { slowed: true }),
    'right, user disabled, all limited': checked(disabled, disabled, { slowed: true }),
    'wrong, all limited': checked(user, undefined, { slowed: true }),
  },
  'factors-counted': {
    'none missing': { kind: 'factors-counted', missing: 0, remembered: false },
    'one missing': { kind: 'factors-counted', missing: 1, remembered: false },
    'one missing, device remembered': { kind: 'factors-counted', missing: 1, remembered: true },
  },
  continued: {
    'address unconfirmed': continued({ emailVerified: false }),
    'terms not accepted': continued({ acceptedTosVersion: null }),
    'factor demanded': continued({ secondFactorRequired: true }),
    'nothing left': continued({}),
  },
};

describe('The states of a sign-in', () => {
  it('Every event in every state leads to the state or the refusal of the documented table', () => {
    const walked = walkStates(states, events, (state, event) => {
      const next = transition(state, event);
      switch (next.kind) {
        case 'refused':
          return `refused: ${next.refusal.kind}`;
        case 'code-due':
          return next.user ? 'code-due' : 'code-due: no user';
        case 'not-confirmed':
          return `not-confirmed: ${next.account.kind}`;
        case 'next':
          return `next: ${next.step.kind}`;
        default:
          return next.kind;
      }
    });
    expect(walked).toEqual(readTable('docs/architecture/sign-in.md', 'States of a sign-in'));
  });

  it('Attack: a user whose second factor is pending reaches no other step, however often the sign-in continues', () => {
    const event = continued({ acceptedTosVersion: null });
    const first = transition({ kind: 'second-factor-required' }, event);
    expect([first, transition(first, event)]).toEqual([
      { kind: 'next', step: { kind: 'second-factor' } },
      { kind: 'next', step: { kind: 'second-factor' } },
    ]);
  });
});

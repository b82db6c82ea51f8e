import {
  type SignUpEvent,
  type SignUpPlace,
  type SignUpState,
  transition,
} from '../../server/sign-up/sign-up-state.ts';
import type { User } from '../../server/users/index.ts';
import { toNormalisedEmail, toPlanId } from '../support/ids.ts';
import { type EventVariants, readTable, type StateOfEachKind, walkStates } from '../support/state-tables.ts';

const email = toNormalisedEmail('ida@example.com');
const user = { email, planId: null } as User;

const states: StateOfEachKind<SignUpState> = {
  profile: { kind: 'profile' },
  unverified: { kind: 'unverified', email },
  decoy: { kind: 'decoy', email },
  'unverified-user': { kind: 'unverified-user', email },
  proven: { kind: 'proven', email },
  confirmed: { kind: 'confirmed', user },
  verified: { kind: 'verified' },
  'post-sign-up-plan': { kind: 'post-sign-up-plan' },
  complete: { kind: 'complete' },
};

const place: SignUpPlace = { way: 'sign-up', justConfirmed: false, underWay: false, plansAreSold: true };
const events: EventVariants<SignUpEvent> = {
  'account-named': {
    free: { kind: 'account-named', email, taken: false, uniformAnswers: false },
    taken: { kind: 'account-named', email, taken: true, uniformAnswers: false },
    'taken, uniform answers': { kind: 'account-named', email, taken: true, uniformAnswers: true },
  },
  'code-checked': {
    correct: { kind: 'code-checked', check: 'correct' },
    incorrect: { kind: 'code-checked', check: 'incorrect' },
    invalidated: { kind: 'code-checked', check: 'invalidated' },
    incomplete: { kind: 'code-checked', check: 'incomplete' },
  },
  'account-confirmed': {
    user: { kind: 'account-confirmed', result: user },
    'already-in-use': { kind: 'account-confirmed', result: 'already-in-use' },
    disabled: { kind: 'account-confirmed', result: 'disabled' },
  },
  continued: {
    'sign-up, just confirmed': { kind: 'continued', ...place, justConfirmed: true },
    'sign-up, under way': { kind: 'continued', ...place, underWay: true },
    'sign-up, not under way': { kind: 'continued', ...place },
    'post-signup': { kind: 'continued', ...place, way: 'post-signup' },
    'post-signup, just confirmed, no plans': {
      kind: 'continued',
      way: 'post-signup',
      justConfirmed: true,
      underWay: true,
      plansAreSold: false,
    },
    'verify-code': { kind: 'continued', ...place, way: 'verify-code' },
  },
};

describe('The states of a sign-up', () => {
  it('Every event in every state leads to the state or the refusal of the documented table', () => {
    const walked = walkStates(states, events, (state, event) => {
      const next = transition(state, event);
      return next.kind === 'refused' ? `refused: ${next.why}` : next.kind;
    });
    expect(walked).toEqual(readTable('docs/architecture/accounts.md', 'States of a sign-up'));
  });

  const booleans = [true, false];
  const places = (['sign-up', 'post-signup', 'verify-code'] as const).flatMap((way) =>
    booleans.flatMap((justConfirmed) =>
      booleans.flatMap((underWay) => booleans.map((plansAreSold) => ({ way, justConfirmed, underWay, plansAreSold }))),
    ),
  );
  const continueAt = (at: SignUpPlace, planId: User['planId']) =>
    transition({ kind: 'confirmed', user: { ...user, planId } }, { kind: 'continued', ...at }).kind;

  it('A step PLAN follows in the sign-up or after it, only for users without a plan while plans are sold', () => {
    for (const at of places) {
      const hasPlan = continueAt(at, toPlanId('plan'));
      expect([at, hasPlan]).not.toEqual([at, 'post-sign-up-plan']);
      // The page at the same address announces the confirmation.
      if (hasPlan === 'verified') expect(at.justConfirmed).toBe(true);
      if (continueAt(at, null) === 'post-sign-up-plan') {
        expect(at).toMatchObject({ way: 'post-signup', plansAreSold: true });
      }
    }
  });

  it('A user who has just confirmed the address in the sign-up always reaches the page after it', () => {
    for (const at of places.filter(({ way, justConfirmed }) => way === 'sign-up' && justConfirmed)) {
      expect([at, continueAt(at, null), continueAt(at, toPlanId('plan'))]).toEqual([at, 'verified', 'verified']);
    }
  });

  it('Without plans for sale only a confirmation that was just made is announced', () => {
    for (const at of places.filter(({ plansAreSold }) => !plansAreSold)) {
      expect([at, continueAt(at, null)]).toEqual([at, at.justConfirmed ? 'verified' : 'complete']);
    }
  });
});

import {
  type PasswordResetEvent,
  type PasswordResetState,
  refuse,
  toResetState,
  transition,
} from '../../server/password/password-reset-state.ts';
import type { ResetRecord } from '../../server/password/reset-records.ts';
import { toUserId } from '../support/ids.ts';
import { type EventVariants, readTable, type StateOfEachKind, walkStates } from '../support/state-tables.ts';

const minuteMs = 60_000;
const flow: ResetRecord = {
  account: 'digest',
  user: { id: toUserId('ada'), emailHash: 'hash', passwordEpoch: 1 },
  sentAtMs: 0,
};
const nameless: ResetRecord = { ...flow, user: null };
const provenFlow: ResetRecord = { ...flow, provenUntilMs: 10 * minuteMs };

const states: StateOfEachKind<PasswordResetState> = {
  none: { kind: 'none' },
  'code-sent': { kind: 'code-sent', flow },
  decoy: { kind: 'decoy', flow: nameless },
  'code-proven': { kind: 'code-proven', flow: provenFlow },
  reset: { kind: 'reset' },
};

const named = { kind: 'account-named', uniformAnswers: false, flow } as const;
const checked = { kind: 'code-checked', nowMs: 1 } as const;
const events: EventVariants<PasswordResetEvent> = {
  'account-named': {
    active: { ...named, account: 'active' },
    unknown: { ...named, account: 'unknown-user' },
    disabled: { ...named, account: 'disabled' },
    'unknown, uniform answers': { ...named, account: 'unknown-user', uniformAnswers: true },
    'disabled, uniform answers': { ...named, account: 'disabled', uniformAnswers: true },
  },
  'code-sent': { '': { kind: 'code-sent', nowMs: 1 } },
  'code-checked': {
    correct: { ...checked, check: 'correct' },
    incorrect: { ...checked, check: 'incorrect' },
    invalidated: { ...checked, check: 'invalidated' },
    incomplete: { ...checked, check: 'incomplete' },
  },
  'password-checked': {
    acceptable: { kind: 'password-checked', faults: [] },
    faulty: { kind: 'password-checked', faults: ['too-short'] },
  },
  'account-changed': { '': { kind: 'account-changed' } },
  'password-set': { '': { kind: 'password-set' } },
};

describe('The states of a password reset', () => {
  it('Every event in every state leads to the state or the refusal of the documented table', () => {
    const walked = walkStates(states, events, (state, event) => {
      const next = transition(state, event);
      return next.kind === 'refused' ? `refused: ${next.refusal.kind}` : next.kind;
    });
    expect(walked).toEqual(readTable('docs/architecture/accounts.md', 'States of a reset'));
  });

  it('A right code is remembered for ten minutes, and another code does not shorten that', () => {
    const nowMs = 5 * minuteMs;
    const proven = transition(states['code-sent'], { kind: 'code-checked', check: 'correct', nowMs });
    expect(proven).toEqual({ kind: 'code-proven', flow: { ...flow, provenUntilMs: 15 * minuteMs } });
    const resent = transition(states['code-proven'], { kind: 'code-sent', nowMs });
    expect(resent).toEqual({ kind: 'code-proven', flow: { ...provenFlow, sentAtMs: nowMs } });
  });

  it('The refusal of a password says whether the code is proven, and names the faults', () => {
    const event: PasswordResetEvent = { kind: 'password-checked', faults: ['breached'] };
    for (const kind of ['code-sent', 'code-proven'] as const) {
      const proven = kind === 'code-proven';
      expect(transition(states[kind], event)).toEqual(refuse({ kind: 'faults', faults: ['breached'], proven }));
    }
  });

  it('A stored reset is proven until its time, and never without an account', () => {
    const kindAt = (stored: ResetRecord, nowMs: number) => toResetState(stored, nowMs).kind;
    expect(kindAt(flow, 0)).toBe('code-sent');
    expect([kindAt(provenFlow, 10 * minuteMs - 1), kindAt(provenFlow, 10 * minuteMs)]).toEqual([
      'code-proven',
      'code-sent',
    ]);
    expect(kindAt({ ...nameless, provenUntilMs: 1 }, 0)).toBe('decoy');
  });
});

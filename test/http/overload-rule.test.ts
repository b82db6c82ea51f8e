import type { Load } from '../../server/http/direct-dispatcher.ts';
import { type Importance, preferredShares } from '../../server/http/importance.ts';
import { findRefusal } from '../../server/http/overload.ts';

const limits = { requests: 100, turnMs: 50 };
const load = (own: Partial<Load>): Load => ({
  inProgress: 0,
  admittedInTurn: 0,
  turnMs: 0,
  isLasting: true,
  passwords: new Set(),
  passwordChanges: 0,
  ...own,
});

describe('the rule of overload', () => {
  it.each<[string, Partial<Load>, Record<Importance, string | undefined>]>([
    ['calm', {}, { visit: undefined, member: undefined, begun: undefined }],
    ['59 of 100 requests', { inProgress: 59 }, { visit: undefined, member: undefined, begun: undefined }],
    ['60 of 100 requests', { inProgress: 60 }, { visit: 'requests', member: undefined, begun: undefined }],
    ['85 of 100 requests', { inProgress: 85 }, { visit: 'requests', member: 'requests', begun: undefined }],
    ['100 of 100 requests', { inProgress: 100 }, { visit: 'requests', member: 'requests', begun: 'requests' }],
    [
      'a turn just below the limit',
      { admittedInTurn: 30, turnMs: 49 },
      { visit: undefined, member: undefined, begun: undefined },
    ],
    [
      'a long turn of few requests',
      { admittedInTurn: 19, turnMs: 900 },
      { visit: undefined, member: undefined, begun: undefined },
    ],
    [
      'a long turn of many requests',
      { admittedInTurn: 20, turnMs: 50 },
      { visit: 'delay', member: undefined, begun: undefined },
    ],
    [
      'a long turn with many requests in progress',
      { inProgress: 20, turnMs: 50 },
      { visit: 'delay', member: undefined, begun: undefined },
    ],
    ['twice as long', { inProgress: 20, turnMs: 100 }, { visit: 'delay', member: 'delay', begun: undefined }],
    ['four times as long', { inProgress: 20, turnMs: 200 }, { visit: 'delay', member: 'delay', begun: 'delay' }],
    [
      'a single long turn after calm ones',
      { inProgress: 20, turnMs: 199, isLasting: false },
      { visit: undefined, member: undefined, begun: undefined },
    ],
    [
      'a single turn that is four times as long',
      { inProgress: 20, turnMs: 200, isLasting: false },
      { visit: 'delay', member: undefined, begun: undefined },
    ],
  ])('With %s each importance is refused as the table says', (_name, own, expected) => {
    for (const importance of ['visit', 'member', 'begun'] as const) {
      expect({ importance, refused: findRefusal(importance, load(own), limits) }).toEqual({
        importance,
        refused: expected[importance],
      });
    }
  });
});

describe('attack: one cookie, or many made-up holders, for the preference', () => {
  it('A holder is preferred only so often within a second, and again in the next', () => {
    let nowMs = 0;
    const { take } = preferredShares(() => nowMs);
    const takes = (holder: string) => Array.from({ length: 15 }, () => take(holder, 10)).filter(Boolean).length;
    expect([takes('a'), takes('b'), takes('a')]).toEqual([10, 10, 0]);
    nowMs = 1_000;
    expect(takes('a')).toBe(10);
  });

  it('The counters are bounded: after ten thousand holders in a second no other is preferred', () => {
    const { take } = preferredShares(() => 0);
    const preferred = Array.from({ length: 10_050 }, (_, n) => take(`holder ${n}`, 1)).filter(Boolean);
    expect(preferred).toHaveLength(10_000);
  });
});
